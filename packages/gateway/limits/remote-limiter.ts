import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyRef, Limiter } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { gatewayErrors } from '../errors.ts';

/*
 * Without Redis each gateway process keeps the logs of its limiter in memory. A process that inspects or resets a log sends
 * a question to all gateway processes. It uses the events of the database, which reach every process without an address.
 */
const questions = 'gateway.limiter.ask';
const answers = 'gateway.limiter.answer';

const keyRef = z.union([
  z.object({ kind: z.enum(['user', 'ip', 'model']), key: z.string() }),
  z.object({ kind: z.literal('token'), key: z.string(), user: z.number() }),
]);
const questionSchema = z.discriminatedUnion('op', [
  z.object({ id: z.string(), op: z.literal('inspect'), of: keyRef }),
  z.object({ id: z.string(), op: z.literal('reset'), of: keyRef.nullable() }),
]);
const answerSchema = z.object({
  id: z.string(),
  usage: z.object({ requests: z.number(), tokens: z.number(), oldestLeavesMs: z.number().nullable() }).optional(),
  count: z.number().optional(),
});
type Question = z.output<typeof questionSchema>;
type Answer = z.output<typeof answerSchema>;

/** The first answer normally takes a few milliseconds. Without an answer in this time, no gateway is running. */
const firstAnswerMs = 800;
/** Time for the other processes after the first answer. */
const otherAnswersMs = 100;

/** Answers the questions of other processes about the limiter of this one. Returns the function that ends this. */
export function answerQuestions(
  runtime: Pick<Runtime, 'events' | 'log'>,
  limiter: Limiter,
): Promise<() => Promise<void>> {
  const { events, log } = runtime;
  const reply = async (text: string) => {
    const question = questionSchema.parse(JSON.parse(text));
    const { id } = question;
    const answer: Answer =
      question.op === 'inspect'
        ? { id, usage: await limiter.inspect(question.of) }
        : { id, count: await limiter.reset(question.of ?? undefined) };
    await events.publish(answers, JSON.stringify(answer));
  };
  return events.subscribe(questions, (text) => {
    reply(text).catch((error: unknown) => log.warn({ err: error }, 'a question about the limiter was not answered'));
  });
}

async function askAll({ events }: Pick<Runtime, 'events'>, question: Question): Promise<Answer[]> {
  const received: Answer[] = [];
  const first = Promise.withResolvers<void>();
  const unsubscribe = await events.subscribe(answers, (text) => {
    const answer = answerSchema.safeParse(JSON.parse(text)).data;
    if (answer?.id !== question.id) return;
    received.push(answer);
    first.resolve();
  });
  try {
    await events.publish(questions, JSON.stringify(question));
    await Promise.race([first.promise, sleep(firstAnswerMs, undefined, { ref: false })]);
    if (received.length > 0) await sleep(otherAnswersMs);
  } finally {
    await unsubscribe();
  }
  if (received.length === 0) throw gatewayErrors.no_gateway();
  return received;
}

/** The limiters of all gateway processes together. They can be inspected and reset, not checked. */
export function openRemoteLimiter(runtime: Pick<Runtime, 'events'>): Pick<Limiter, 'inspect' | 'reset'> {
  return {
    async inspect(of: KeyRef) {
      const all = await askAll(runtime, { id: randomUUID(), op: 'inspect', of });
      const usages = all.flatMap(({ usage }) => (usage ? [usage] : []));
      const leaves = usages.flatMap(({ oldestLeavesMs }) => (oldestLeavesMs === null ? [] : [oldestLeavesMs]));
      return {
        requests: usages.reduce((sum, usage) => sum + usage.requests, 0),
        tokens: usages.reduce((sum, usage) => sum + usage.tokens, 0),
        oldestLeavesMs: leaves.length > 0 ? Math.min(...leaves) : null,
      };
    },
    async reset(only?: KeyRef) {
      const all = await askAll(runtime, { id: randomUUID(), op: 'reset', of: only ?? null });
      return all.reduce((sum, { count }) => sum + (count ?? 0), 0);
    },
  };
}
