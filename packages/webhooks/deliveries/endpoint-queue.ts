import { CircuitBreaker } from '@tradepost/core';
import type { AddressGuard } from '@tradepost/outbound-http';
import type { Runtime } from '@tradepost/runtime';
import type { Attempt, Claimed } from './delivery.ts';
import { endpointConnections, postDelivery, type Way } from './post-delivery.ts';
import { webhookId } from './read-events.ts';

/** After so many failures in a row an endpoint gets one request at a time, after pauses. */
const circuit = { failuresToOpen: 10, firstPauseMs: 5_000, longestPauseMs: 300_000 };
/** Answers by which a receiver asks for a pause. */
const askForPause: ReadonlySet<number | null> = new Set([429, 503]);
/** A claimed delivery that has waited this long in the process is given up: its claim would not last for an attempt. */
const longestWaitMs = 30_000;

/** An endpoint as it is now, and the secrets that sign now. */
export type OpenTarget = { readonly id: number; readonly url: string; readonly secrets: readonly string[] };
type Done = (claim: Claimed, attempt: Attempt | null) => void;
type QueueOptions = {
  readonly guard: AddressGuard;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly done: Done;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
};
type Waiting = { readonly claim: Claimed; readonly since: number };

/** The deliveries of one endpoint in this process: some are claimed and wait, some are being sent. */
export type EndpointQueue = ReturnType<typeof openEndpointQueue>;

export function openEndpointQueue(
  runtime: Pick<Runtime, 'now'>,
  { guard, signal, done, clock, ...options }: QueueOptions,
  first: OpenTarget,
) {
  const breaker = new CircuitBreaker(circuit);
  let { concurrency } = options;
  let target = first;
  let connections = endpointConnections(guard, target.url, concurrency);
  let waiting: Waiting[] = [];
  let running = 0;

  const isLate = ({ since }: Waiting) => clock() - since > longestWaitMs;

  async function send(claim: Claimed): Promise<void> {
    running += 1;
    const isTrial = breaker.begin(clock());
    const now = runtime.now();
    const way: Way = { connections, url: target.url, secrets: target.secrets };
    const attempt = await postDelivery({ id: webhookId(claim.event_id), body: claim.body }, way, signal, now);
    running -= 1;
    const ended = clock();
    if (!attempt) {
      if (isTrial) breaker.abandonTrial();
    } else if (attempt.error === '') breaker.succeed();
    else if (attempt.retryAfterMs !== null && askForPause.has(attempt.status))
      breaker.pause(ended, attempt.retryAfterMs);
    else breaker.fail(ended, isTrial);
    done(claim, attempt);
    sendNext();
  }

  function sendNext(): void {
    // After a pause of the process another one may have the first claim, or have sent it.
    while (
      waiting.length > 0 &&
      running < concurrency &&
      !signal.aborted &&
      breaker.allows(clock()) &&
      !isLate(waiting[0]!)
    )
      void send(waiting.shift()!.claim);
  }

  return {
    get running() {
      return running;
    },
    /** The deliveries to claim now: enough for all requests and as many to wait, one in a circuit that is not closed. */
    free(): number {
      const now = clock();
      if (!breaker.allows(now)) return 0;
      if (breaker.state(now) !== 'closed') return running + waiting.length === 0 ? 1 : 0;
      return Math.max(0, 2 * concurrency - running - waiting.length);
    },
    add(claims: readonly Claimed[]): void {
      const since = clock();
      waiting.push(...claims.map((claim) => ({ claim, since })));
      sendNext();
    },
    /** The claimed deliveries that will not be sent: all, or those that the circuit or a slow endpoint holds back. */
    giveUp(all: boolean): Claimed[] {
      const now = clock();
      const held = all || !breaker.allows(now);
      const given = waiting.filter((one) => held || isLate(one));
      waiting = waiting.filter((one) => !given.includes(one));
      return given.map(({ claim }) => claim);
    },
    /** Takes a changed URL, secret or concurrency. Running requests end on their connections. */
    update(next: OpenTarget, requests: number): void {
      if (requests !== concurrency || new URL(next.url).origin !== new URL(target.url).origin) {
        concurrency = requests;
        void connections.pool.close().catch(() => {});
        connections = endpointConnections(guard, next.url, concurrency);
      }
      target = next;
    },
    close: () => connections.pool.destroy(),
  };
}
