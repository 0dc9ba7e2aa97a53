/**
 * Loaded into a process that is measured (`--expose-gc --import`): at SIGUSR2 the main thread and every worker thread
 * collect their garbage, so that what is measured afterwards is what is held. Each then writes its heap to
 * standard output. JavaScript, since worker threads load it before anything reads TypeScript.
 */
import { isMainThread } from 'node:worker_threads';

const channel = new BroadcastChannel('bench-collect-garbage');
channel.unref();

async function collect() {
  // What finalizers let go is collected by the next one.
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc?.();
    await new Promise(setImmediate);
  }
  const heapMb = process.memoryUsage().heapUsed / 2 ** 20;
  console.log(`collected ${isMainThread ? 'main' : 'thread'} ${heapMb.toFixed(3)}`);
}

channel.onmessage = () => void collect();
if (isMainThread) {
  process.on('SIGUSR2', () => {
    channel.postMessage('collect');
    void collect();
  });
}
