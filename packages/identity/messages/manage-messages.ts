import { enqueueJobs, type Runtime } from '@tradepost/runtime';
import { reopenMessages } from './message-store.ts';
import { sendJob } from './send-messages.ts';

const perTransaction = 1_000;

/**
 * Queues failed messages again, with all their attempts: these ids, or all failed messages. Returns the ids that were queued.
 * The messages and their jobs are written in one transaction.
 */
export async function retryMessages(
  { sql, now }: Pick<Runtime, 'sql' | 'now'>,
  choice: { ids: readonly number[] } | { failed: true },
): Promise<number[]> {
  const retried: number[] = [];
  for (;;) {
    const reopened = (await sql.begin(async (tx) => {
      const rows = await reopenMessages(tx, 'ids' in choice ? choice : { limit: perTransaction }, now());
      const batches = [...new Set(rows.map(({ batch }) => batch))];
      if (batches.length > 0)
        await enqueueJobs(
          tx,
          batches.map((batch) => sendJob(batch)),
        );
      return rows;
    })) as { id: number }[];
    retried.push(...reopened.map(({ id }) => id));
    if ('ids' in choice || reopened.length < perTransaction) return retried;
  }
}
