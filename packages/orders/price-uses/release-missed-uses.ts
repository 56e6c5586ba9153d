import type { PricePipeline } from '@tradepost/pricing';
import { type EventReader, enqueueJobs, type Job, type Log, type Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { orderAfterSaleEnded, orderCancelled } from '../order-events.ts';
import { orderStatus } from '../orders/order-status.ts';
import { selectCancelledWith, selectOtherSteps } from './missed-uses-store.ts';

export const releaseUsesTask = 'orders.release_uses';
const batch = 500;
const waitMs = 10 * 60_000;

type Deps = {
  readonly runtime: Pick<Runtime, 'sql' | 'now'>;
  readonly pipeline: () => Pick<PricePipeline, 'steps' | 'release'>;
};
/** The facts of the events that the reader needs. */
const endFacts = z.object({ order_id: z.number(), status: z.number().optional() });
/** Without a step: all steps. */
const payloadSchema = z.object({ step: z.string().optional() });

/** The job for the uses of one step. At most one waits. */
const jobOf = (step: string, runAt: Date): Job => ({
  ...{ task: releaseUsesTask, payload: { step }, key: `${releaseUsesTask}:${step}`, runAt },
});
const later = ({ runtime }: Deps): Date => new Date(runtime.now().getTime() + waitMs);

/**
 * Orders that are cancelled while a module is switched off release nothing of its price steps, and its readers get no event. This
 * reader enqueues a job for each such step, which waits until the module is on.
 */
export const missedUsesReader = (deps: Deps): EventReader => ({
  name: 'orders.missed_uses',
  kinds: [orderCancelled.name, orderAfterSaleEnded.name],
  async read(tx, events) {
    const ids = events.flatMap(({ name, data }) => {
      const { order_id, status } = endFacts.parse(data);
      return name === orderCancelled.name || status === orderStatus.cancelled ? [order_id] : [];
    });
    const steps = ids.length > 0 ? await selectOtherSteps(tx, ids, deps.pipeline().steps) : [];
    const runAt = later(deps);
    if (steps.length > 0)
      await enqueueJobs(
        tx,
        steps.map((step) => jobOf(step, runAt)),
      );
  },
});

/**
 * Releases what cancelled orders still use of a step, or of all steps, in batches. What was released before is left as it is. While the
 * module of the step is off, the job waits.
 */
export async function releaseMissedUses(
  deps: Deps,
  payload: unknown,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<void> {
  const { runtime } = deps;
  const pipeline = deps.pipeline();
  const { step } = payloadSchema.parse(payload ?? {});
  const wait = (chosen: string) => runtime.sql.begin((tx) => enqueueJobs(tx, [jobOf(chosen, later(deps))]));
  if (step !== undefined && !pipeline.steps.includes(step)) return void (await wait(step));
  const steps = step === undefined ? pipeline.steps : [step];
  let after = 0;
  for (let orders = batch; orders === batch; ) {
    // The cron without a step runs again by itself.
    if (signal.aborted) return void (step !== undefined && (await wait(step)));
    orders = await runtime.sql.begin(async (tx) => {
      const cancelled = await selectCancelledWith(tx, steps, { after, limit: batch });
      after = cancelled.at(-1)?.id ?? after;
      const used = cancelled.map((order) => ({
        ...order,
        price_steps: order.price_steps.filter((name) => steps.includes(name)),
      }));
      await Promise.all(pipeline.release(tx, used, runtime.now()));
      return cancelled.length;
    });
  }
  if (step !== undefined) log.info({ step }, 'uses of cancelled orders released');
}
