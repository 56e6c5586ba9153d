import { setTimeout as sleep } from 'node:timers/promises';

const listening = /Debugger listening on (ws:\S+)/g;

/**
 * Makes a Node process collect garbage through its inspector, so that garbage does not count as used memory. `output`
 * returns the stderr of the process so far. The process must run with `--inspect-port`.
 */
export async function collectGarbage(pid: number, output: () => string): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const address = () => [...output().matchAll(listening)].at(-1)?.[1];
  for (const end = performance.now() + 10_000; !address(); await sleep(20))
    if (performance.now() > end) throw new Error('the inspector of the server did not open');
  const socket = new WebSocket(address()!);
  try {
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error('no connection to the inspector of the server'));
    });
    // The second collection frees the objects that finalizers of the first one released.
    for (const id of [1, 2]) {
      const answered = new Promise<void>((resolve) => {
        socket.onmessage = ({ data }) => JSON.parse(String(data)).id === id && resolve();
      });
      socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
      await answered;
    }
  } finally {
    socket.close();
  }
  // The allocator returns freed pages a moment later.
  await sleep(500);
}
