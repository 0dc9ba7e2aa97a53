import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { startServer } from './start-server.ts';

/** A line to a server. While it is held, what the server says waits, as it does at a process that is frozen. */
export async function heldLine(to: string) {
  const { hostname: host, port } = new URL(`tcp://${to}`);
  const ends = new Set<Socket>();
  let isHeld = false;
  const { port: own, close } = await startServer(
    createServer((near) => {
      const far = connect({ host, port: Number(port) });
      ends.add(far);
      near.pipe(far).pipe(near);
      if (isHeld) far.pause();
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
      }
      void once(far, 'close').then(() => ends.delete(far));
    }),
  );
  return {
    address: `127.0.0.1:${own}`,
    hold(): void {
      isHeld = true;
      for (const end of ends) end.pause();
    },
    release(): void {
      isHeld = false;
      for (const end of ends) end.resume();
    },
    close,
  };
}
