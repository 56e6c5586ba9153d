import { randomUUID } from 'node:crypto';
import type { Transaction } from '@tradepost/postgres';
import { enqueueJobs, type Runtime } from '@tradepost/runtime';
import { enabledNotices } from './message-settings.ts';
import { insertMessages, type NewMessage } from './message-store.ts';
import { messagePartsOf, notReadyFor } from './messenger.ts';
import { paramText } from './notices.ts';
import { isPhone, plainPhone } from './phone.ts';
import { sendJob } from './send-messages.ts';

/** A message to a shopper about something that has happened. `phone` is the number of the receiver. */
export type Notice = {
  readonly notice: string;
  readonly user_id: number;
  readonly phone: string;
  readonly params: Readonly<Record<string, string>>;
};

/** The most messages that one job sends. */
const perJob = 100;

/** Throws for a mistake of the calling code, also when the notice is switched off, so that a test finds it. */
function checkNotices(runtime: Pick<Runtime, 'settings'>, notices: readonly Notice[]): void {
  const known = new Map(messagePartsOf(runtime).notices.map((notice) => [notice.name, notice]));
  for (const { notice, params } of notices) {
    const missing = known.get(notice)?.params.filter((param) => params[param] === undefined) ?? [];
    if (missing.length > 0) throw new Error(`the notice ${notice} has no value for ${missing.join(', ')}`);
  }
}

const paramsOf = (params: Notice['params']) =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, paramText(value)]));

/** Whether `enqueueNotices` queues this notice: an operator has switched it on, and a sender is ready for it. */
export const isNoticeOn = (runtime: Pick<Runtime, 'settings' | 'config' | 'now'>, notice: string): boolean =>
  runtime.settings.get(enabledNotices).includes(notice) &&
  !notReadyFor(messagePartsOf(runtime), runtime, 'sms', notice);

/**
 * Queues messages to shoppers in the transaction of the change that causes them. Sends no statement when no operator has switched
 * the notices on, or when no sender is ready for them; else two. Receivers without a phone number are left out. A message
 * may be sent twice when a worker ends between the sending and its record.
 */
export async function enqueueNotices(
  tx: Transaction,
  runtime: Pick<Runtime, 'settings' | 'config' | 'now'>,
  notices: readonly Notice[],
): Promise<void> {
  checkNotices(runtime, notices);
  const names = new Set([...new Set(notices.map(({ notice }) => notice))].filter((name) => isNoticeOn(runtime, name)));
  const due_at = runtime.now();
  let batch = '';
  const batches: string[] = [];
  const messages = notices
    .filter(({ notice, phone }) => names.has(notice) && isPhone(phone))
    .map(({ notice, user_id, phone, params }, index): NewMessage => {
      if (index % perJob === 0) {
        batch = randomUUID();
        batches.push(batch);
      }
      return { batch, notice, channel: 'sms', user_id, phone: plainPhone(phone), params: paramsOf(params), due_at };
    });
  if (messages.length === 0) return;
  await Promise.all([
    insertMessages(tx, messages),
    enqueueJobs(
      tx,
      batches.map((each) => sendJob(each)),
    ),
  ]);
}
