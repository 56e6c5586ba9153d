import { enqueueJobs, type Runtime } from '@tradepost/runtime';
import { reopenMessages } from './message-store.ts';
import { sendJob } from './send-messages.ts';

const perTransaction = 1_000;

/**
 * Queues failed messages again, with all their attempts: these ids, or all failed messages. Returns the ids that were queued,
 * each once: a message that fails again meanwhile stays failed. The messages and their jobs are written in one transaction.
 */
export async function retryMessages(
  { sql, now }: Pick<Runtime, 'sql' | 'now'>,
  choice: { ids: readonly number[] } | { failed: true },
): Promise<number[]> {
  const retried: number[] = [];
  for (let after = 0; ; ) {
    const part = 'ids' in choice ? choice : { after, limit: perTransaction };
    const reopened = (await sql.begin(async (tx) => {
      const rows = await reopenMessages(tx, part, now());
      const batches = [...new Set(rows.map(({ batch }) => batch))];
      if (batches.length > 0)
        await enqueueJobs(
          tx,
          batches.map((batch) => sendJob(batch)),
        );
      return rows;
    })) as { id: number }[];
    for (const { id } of reopened) {
      retried.push(id);
      after = Math.max(after, id);
    }
    if ('ids' in choice || reopened.length < perTransaction) return retried;
  }
}
