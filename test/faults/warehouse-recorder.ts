import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defer } from '@tradepost/testing/processes/cleanup';

/** One call. `key`: its idempotency key `<biz_type>:<biz_no>:<action>`. `answered`: false when one side disconnected first. */
type Call = { key: string; began: number; ended: number; answered: boolean };

export type CallRecorder = {
  url: string;
  calls: readonly Call[];
  /** Violations of the order of calls. With callbacks, a reserve can end before its call is answered. */
  faults(withCallbacks: boolean): string[];
  /** Holds back the answers to calls of this action until `release`. `held` is the number of answers that wait. */
  holdAnswers(action: string): { held(): number; release(): void };
  close(): Promise<void>;
};

/**
 * Finds overlapping calls of one key, and calls that were sent before the reserve of their order ended. Only answered calls
 * count: an abandoned call can arrive at any later time, as on any network.
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
        faults.push(`${key} was called twice at the same time`);
    const reserves = byKey.get(`${key.slice(0, key.lastIndexOf(':'))}:reserve`) ?? [];
    if (key.endsWith(':reserve') || reserves.length === 0) continue;
    const { began } = all[0]!;
    // A callback can end a reserve while it is sent a second time, with the same key.
    const late = withCallbacks
      ? reserves[0]!.began > began
      : reserves.some((reserve) => reserve.answered && reserve.ended > began);
    if (late) faults.push(`${key} was sent before its reserve ended`);
  }
  return faults;
}

/** A proxy between the shop and a warehouse. It forwards every call, and records when it began and ended. */
export async function openCallRecorder(target: () => string): Promise<CallRecorder> {
  const calls: Call[] = [];
  let holding: { action: string; answers: (() => void)[] } | null = null;
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const server = createServer({ keepAliveTimeout: 65_000 }, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const key = String(incoming.headers['idempotency-key']);
      const call: Call = { key, began: performance.now(), ended: Number.POSITIVE_INFINITY, answered: false };
      if (incoming.url !== '/stock/sellable') calls.push(call);
      const cut = () => incoming.socket.destroy();
      const { headers } = incoming;
      const forwarded = request(target() + incoming.url, { method: 'POST', headers, agent }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', cut);
        answer.on('end', () => {
          call.ended = performance.now();
          call.answered = true;
          const send = () => {
            response.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] ?? 'text/plain' });
            response.end(Buffer.concat(parts));
          };
          if (holding && key.endsWith(`:${holding.action}`)) holding.answers.push(send);
          else send();
        });
      });
      forwarded.on('error', cut);
      // The shop disconnected or has its answer.
      response.on('close', () => {
        if (!call.answered) call.ended = performance.now();
        forwarded.destroy();
      });
      forwarded.end(Buffer.concat(chunks));
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
    holdAnswers(action) {
      const answers: (() => void)[] = [];
      holding = { action, answers };
      return {
        held: () => answers.length,
        release() {
          holding = null;
          for (const send of answers.splice(0)) send();
        },
      };
    },
    close,
  };
}
