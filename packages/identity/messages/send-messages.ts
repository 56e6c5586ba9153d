import { enqueueJobs, type Job, type Log, type Runtime, type TaskHandler } from '@tradepost/runtime';
import { z } from 'zod';
import { messageMetrics } from './message-metrics.ts';
import { enabledNotices, noticesPerPhoneDay } from './message-settings.ts';
import {
  type ClaimedMessage,
  claimMessages,
  type Outcome,
  recordOutcomes,
  selectLateBatches,
  selectNextDue,
} from './message-store.ts';
import { failureText, isPermanent, type Messenger } from './messenger.ts';

export const sendMessagesTask = 'identity.send_messages';
export const messageSweepTask = 'identity.sweep_messages';

/** Messages that are claimed and sent at once. */
const groupSize = 10;
/** The pauses after the first to the fourth attempt. */
const pausesMs = [30_000, 2 * 60_000, 10 * 60_000, 30 * 60_000] as const;
/** A queued message that is due for this time has lost its job. */
const lateMs = 5 * 60_000;
const sweepBatch = 1_000;
/** A job gives its worker to other jobs after this time: a sender that hangs would hold it for all messages of the batch. */
const turnMs = 5_000;
/** All other jobs start before notices. */
const noticePriority = 10;

/** The job that sends a batch. Its key allows one waiting job per batch. */
export const sendJob = (batch: string, runAt?: Date): Job => ({
  task: sendMessagesTask,
  payload: { batch },
  key: `${sendMessagesTask}:${batch}`,
  priority: noticePriority,
  ...(runAt ? { runAt } : {}),
});

const payloadSchema = z.object({ batch: z.uuid() });
type Deps = { runtime: Pick<Runtime, 'sql' | 'settings' | 'now' | 'metrics'>; messenger: Messenger };

const enqueue = (sql: Runtime['sql'], jobs: readonly Job[]) =>
  sql.begin(async (tx) => {
    await enqueueJobs(tx, jobs);
  });

async function sendOne(
  { runtime, messenger }: Deps,
  { id, notice, channel, phone, params, attempts }: ClaimedMessage,
  signal: AbortSignal,
): Promise<Outcome> {
  const ended = { id, attempts, last_error: '', sent_at: null, due_at: null };
  const isOn = runtime.settings.get(enabledNotices).includes(notice);
  if (!isOn || !messenger.has(notice)) {
    messageMetrics(runtime.metrics).messages.inc({ notice, outcome: 'skipped' });
    return {
      ...ended,
      status: 'skipped',
      last_error: `the ${isOn ? 'module of the notice' : 'notice'} was switched off`,
    };
  }
  try {
    await messenger.send(channel, { id: `message:${id}`, notice, phone, params }, signal);
    return { ...ended, status: 'sent', sent_at: runtime.now() };
  } catch (error) {
    const last_error = failureText(error);
    const pauseMs = pausesMs[attempts - 1];
    if (isPermanent(error) || pauseMs === undefined) return { ...ended, status: 'failed', last_error };
    return { ...ended, status: 'queued', last_error, due_at: new Date(runtime.now().getTime() + pauseMs) };
  }
}

function logFailures(log: Log, claimed: readonly ClaimedMessage[], outcomes: readonly Outcome[]): void {
  const noticeOf = new Map(claimed.map(({ id, notice }) => [id, notice]));
  for (const { id, status, last_error, attempts } of outcomes)
    if (status === 'failed')
      log.warn({ message: id, notice: noticeOf.get(id), attempts, reason: last_error }, 'a message was not sent');
}

/**
 * The job of one batch: claims its due messages in groups, sends each group at once and records the outcomes. When messages
 * are left or wait for a further attempt, the next job is enqueued for that time. It is safe to run twice, also at the same time: a
 * claimed message is not claimed again for a minute. After a worker has ended during a sending, that message is sent again.
 */
export function messageJob(deps: Deps): TaskHandler {
  const { runtime } = deps;
  const { sql, settings, metrics } = runtime;
  return async (payload, { log, signal, stopping = signal }) => {
    const { batch } = payloadSchema.parse(payload);
    const endOfTurn = runtime.now().getTime() + turnMs;
    while (!stopping.aborted) {
      const limits = { limit: groupSize, perPhone: settings.get(noticesPerPhoneDay) };
      const claimed = await claimMessages(sql, batch, { ...limits, now: runtime.now() });
      if (claimed.length === 0) break;
      for (const { notice, status } of claimed)
        if (status !== 'queued') messageMetrics(metrics).messages.inc({ notice, outcome: status });
      const queued = claimed.filter(({ status }) => status === 'queued');
      const outcomes = await Promise.all(queued.map((message) => sendOne(deps, message, signal)));
      if (outcomes.length > 0) await recordOutcomes(sql, outcomes);
      logFailures(log, claimed, outcomes);
      if (runtime.now().getTime() >= endOfTurn) break;
    }
    const next = await selectNextDue(sql, batch);
    if (!next) return;
    // The database starts the job by its own clock. With a slower clock of this process, the job would find nothing and be
    // enqueued again at once, so it is enqueued for the same pause by the clock of the database.
    const pauseMs = Math.max(0, next.due_at.getTime() - runtime.now().getTime());
    await enqueue(sql, [sendJob(batch, new Date(next.database_now.getTime() + pauseMs))]);
  };
}

/** Enqueues jobs for messages whose job was lost. */
export async function sweepMessages({ sql, now }: Pick<Runtime, 'sql' | 'now'>, log: Log): Promise<void> {
  const batches = await selectLateBatches(sql, new Date(now().getTime() - lateMs), sweepBatch);
  if (batches.length === 0) return;
  await enqueue(
    sql,
    batches.map((batch) => sendJob(batch)),
  );
  log.warn({ batches: batches.length }, 'enqueued new jobs for messages without a job');
}
