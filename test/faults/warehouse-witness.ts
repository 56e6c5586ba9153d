import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defer } from '../bench/cleanup.ts';

/** One call as it passed, by its idempotency key `<biz_type>:<biz_no>:<action>`. `answered`: else one side went away first. */
type Call = { key: string; began: number; ended: number; answered: boolean };

export type Witness = {
  url: string;
  calls: readonly Call[];
  /** What may never be seen on the way to a warehouse, in words. A callback may end a reserve before it is answered. */
  faults(withCallbacks: boolean): string[];
  close(): Promise<void>;
};

function faultsOf(calls: readonly Call[], withCallbacks: boolean): string[] {
  const faults: string[] = [];
  const byKey = new Map<string, Call[]>();
  for (const call of calls) byKey.set(call.key, [...(byKey.get(call.key) ?? []), call]);
  for (const [key, list] of byKey) {
    for (const [index, next] of list.entries()) {
      const before = list[index - 1];
      if (before?.answered && before.ended > next.began) faults.push(`${key} was called by two at once`);
    }
    const document = key.slice(0, key.lastIndexOf(':'));
    const reserves = byKey.get(`${document}:reserve`) ?? [];
    if (key.endsWith(':reserve') || reserves.length === 0) continue;
    // A callback ends a reserve that may just be on its way once more, under the same key.
    const late = withCallbacks
      ? reserves[0]!.began > list[0]!.began
      : reserves.some(({ began, ended, answered }) => (answered ? ended : began) > list[0]!.began);
    if (late) faults.push(`${key} overtook its reserve`);
  }
  return faults;
}

/** Stands between the shop and a warehouse, passes every call on, and remembers which one ran when. */
export async function openWitness(target: () => string): Promise<Witness> {
  const calls: Call[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const server = createServer({ keepAliveTimeout: 65_000 }, (asked, response) => {
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => chunks.push(chunk));
    asked.on('end', () => {
      const key = String(asked.headers['idempotency-key']);
      const call: Call = { key, began: performance.now(), ended: Number.POSITIVE_INFINITY, answered: false };
      if (asked.url !== '/stock/sellable') calls.push(call);
      const cut = () => asked.socket.destroy();
      const { headers } = asked;
      const onwards = request(target() + asked.url, { method: 'POST', headers, agent }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', cut);
        answer.on('end', () => {
          call.ended = performance.now();
          call.answered = true;
          response.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] ?? 'text/plain' });
          response.end(Buffer.concat(parts));
        });
      });
      onwards.on('error', cut);
      // Whoever gave up is not answered any more.
      response.on('close', () => {
        if (!call.answered) call.ended = performance.now();
        onwards.destroy();
      });
      onwards.end(Buffer.concat(chunks));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = defer(async () => {
    server.close();
    server.closeAllConnections();
    agent.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    faults: (withCallbacks) => faultsOf(calls, withCallbacks),
    close,
  };
}
