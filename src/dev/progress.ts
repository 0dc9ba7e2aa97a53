/** Tells a person what takes long: whole lines, and one line that moves. */
export interface Progress {
  /** Prints a line that stays. */
  say(line: string): void;
  /** Replaces the moving line; where lines can't be replaced it prints one every 15 seconds. */
  tick(text: string): void;
}

const PLAIN_INTERVAL_MS = 15_000;

/** Progress on a stream, standard error unless told otherwise: standard output is left to results. */
export function streamProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let moving = false;
  let lastPlain = Date.now();
  const clear = () => {
    if (moving) stream.write('\r\x1b[2K');
    moving = false;
  };
  return {
    say(line) {
      clear();
      stream.write(`${line}\n`);
      lastPlain = Date.now();
    },
    tick(text) {
      if (stream.isTTY) {
        clear();
        stream.write(text.slice(0, Math.max(20, (stream.columns ?? 80) - 1)));
        moving = true;
      } else if (Date.now() - lastPlain >= PLAIN_INTERVAL_MS) {
        stream.write(`${text}\n`);
        lastPlain = Date.now();
      }
    },
  };
}
