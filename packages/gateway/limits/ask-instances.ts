import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyRef, KeyUsage, Limiter } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';

/*
 * Where the limiter keeps its logs in the memory of gateway processes, whoever wants to see or forget one asks them all:
 * over the events of the database, which reach every process and need no address.
 */
const questions = 'gateway.limiter.ask';
const answers = 'gateway.limiter.answer';

type Question = { id: string; op: 'inspect' | 'reset'; of: KeyRef | null };
type Answer = { id: string; usage?: KeyUsage; count?: number };

/** Somebody answers within a few milliseconds, or nobody runs; the others get a moment more. */
const firstMs = 800;
const othersMs = 100;

export function answerQuestions(
  runtime: Pick<Runtime, 'events' | 'log'>,
  limiter: Limiter,
): Promise<() => Promise<void>> {
  const { events, log } = runtime;
  const reply = async (text: string) => {
    const { id, op, of } = JSON.parse(text) as Question;
    const answer: Answer =
      op === 'inspect'
        ? { id, usage: await limiter.inspect(of!) }
        : { id, count: await limiter.reset(of ?? undefined) };
    await events.publish(answers, JSON.stringify(answer));
  };
  return events.subscribe(questions, (text) => {
    reply(text).catch((error: unknown) => log.warn({ err: error }, 'a question about the limiter was not answered'));
  });
}

/** The limiters of all gateway processes together: to look and to forget, not to check. */
export function openRemoteLimiter(runtime: Pick<Runtime, 'events'>): Pick<Limiter, 'inspect' | 'reset'> {
  const { events } = runtime;
  const ask = async (op: Question['op'], of: KeyRef | null): Promise<Answer[]> => {
    const id = randomUUID();
    const got: Answer[] = [];
    let heard = () => {};
    const first = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const end = await events.subscribe(answers, (text) => {
      const answer = JSON.parse(text) as Answer;
      if (answer.id !== id) return;
      got.push(answer);
      heard();
    });
    try {
      await events.publish(questions, JSON.stringify({ id, op, of } satisfies Question));
      await Promise.race([first, sleep(firstMs, undefined, { ref: false })]);
      if (got.length > 0) await sleep(othersMs);
    } finally {
      await end();
    }
    if (got.length === 0) throw gatewayErrors.no_gateway();
    return got;
  };
  return {
    async inspect(of) {
      const usages = (await ask('inspect', of)).flatMap(({ usage }) => (usage ? [usage] : []));
      const leaves = usages.flatMap(({ oldestLeavesMs }) => (oldestLeavesMs === null ? [] : [oldestLeavesMs]));
      return {
        requests: usages.reduce((sum, usage) => sum + usage.requests, 0),
        tokens: usages.reduce((sum, usage) => sum + usage.tokens, 0),
        oldestLeavesMs: leaves.length > 0 ? Math.min(...leaves) : null,
      };
    },
    async reset(only) {
      return (await ask('reset', only ?? null)).reduce((sum, { count }) => sum + (count ?? 0), 0);
    },
  };
}
