import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defer } from '@tradepost/testing/processes/cleanup';

/** One call as it passed, by its idempotency key `<biz_type>:<biz_no>:<action>`. `answered`: else one side went away first. */
type Call = { key: string; began: number; ended: number; answered: boolean };

export type Witness = {
  url: string;
  calls: readonly Call[];
  /** What may never be seen on the way to a warehouse, in words. A callback may end a reserve before it is answered. */
  faults(withCallbacks: boolean): string[];
  close(): Promise<void>;
};

/**
 * Only calls that were answered count: one that was given up may still be on its way, and arrives beside the next or behind what
 * came after it, as on any network.
 */
function faultsOf(calls: readonly Call[], withCallbacks: boolean): string[] {
  const faults: string[] = [];
  const byKey = new Map<string, Call[]>();
  for (const call of calls) {
    const known = byKey.get(call.key);
    if (known) known.push(call);
    else byKey.set(call.key, [call]);
  }
  for (const [key, all] of byKey) {
    const answered = all.filter((call) => call.answered);
    for (const [index, next] of answered.entries())
      if (answered.slice(0, index).some((before) => before.ended > next.began))
        faults.push(`${key} was called by two at once`);
    const reserves = byKey.get(`${key.slice(0, key.lastIndexOf(':'))}:reserve`) ?? [];
    if (key.endsWith(':reserve') || reserves.length === 0) continue;
    const { began } = all[0]!;
    // A callback ends a reserve that may just be on its way once more, under the same key.
    const late = withCallbacks
      ? reserves[0]!.began > began
      : reserves.some((reserve) => reserve.answered && reserve.ended > began);
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
