/**
 * Loaded into a measured process (`--expose-gc --import`). At SIGUSR2 the main thread and every worker thread collect their
 * garbage and say so on standard output. JavaScript, since worker threads load it before the TypeScript loader.
 */
import { isMainThread } from 'node:worker_threads';

const channel = new BroadcastChannel('bench-collect-garbage');
channel.unref();

async function collect() {
  // The next collection takes what finalizers have released.
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc?.();
    await new Promise(setImmediate);
  }
  console.log(`collected ${isMainThread ? 'main' : 'thread'}`);
}

channel.onmessage = () => void collect();
if (isMainThread) {
  process.on('SIGUSR2', () => {
    channel.postMessage('collect');
    void collect();
  });
}
