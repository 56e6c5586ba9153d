import { setTimeout as sleep } from 'node:timers/promises';

const listening = /Debugger listening on (ws:\S+)/g;

/**
 * Has a Node process collect its garbage, through its inspector, so that memory that is only waiting for a collection does
 * not count as kept. `output` is what the process has written to stderr so far; it must run with `--inspect-port`.
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
    // Two: what finalizers of the first one let go of goes with the second.
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
  // Freed pages go back to the system a moment later.
  await sleep(500);
}
