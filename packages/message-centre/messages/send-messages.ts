import { lockActiveShoppers } from '@tradepost/identity';
import type { InboxGroup } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { messageCentreErrors } from '../errors.ts';
import { broadcastsPerDay, sendsPerMinute } from '../settings.ts';
import { hasMarkup } from '../templates/markup.ts';
import type { Priority } from './message.ts';
import { countSent, insertMessages, lockSending } from './message-store.ts';

/** A message that a person sends. `user_id` 0 sends it to all shoppers. */
export type OutgoingMessage = {
  readonly user_id: number;
  readonly message_group: InboxGroup;
  readonly priority: Priority;
  readonly title: string;
  readonly content: string;
  readonly staff_id: number;
};

function refuseMarkup({ title, content }: Pick<OutgoingMessage, 'title' | 'content'>): void {
  if (hasMarkup(title)) throw messageCentreErrors.markup({ field: 'title' });
  if (hasMarkup(content)) throw messageCentreErrors.markup({ field: 'content' });
}

/**
 * Sends messages to shoppers, all or none. Refuses unknown shoppers, HTML, and more than the limits. Those who register later do
 * not see a broadcast.
 */
export async function sendMessages(
  tx: Transaction,
  { settings, now: clock }: Pick<Runtime, 'settings' | 'now'>,
  messages: readonly OutgoingMessage[],
): Promise<void> {
  for (const message of messages) refuseMarkup(message);
  await lockSending(tx);
  const now = clock();
  const sent = await countSent(tx, now);
  const broadcasts = messages.filter(({ user_id }) => user_id === 0).length;
  const [perMinute, perDay] = [settings.get(sendsPerMinute), settings.get(broadcastsPerDay)];
  if (sent.minute + messages.length > perMinute) throw messageCentreErrors.too_many_sent({ max: perMinute });
  if (broadcasts > 0 && sent.broadcasts + broadcasts > perDay)
    throw messageCentreErrors.too_many_broadcasts({ max: perDay });
  const receivers = [...new Set(messages.map(({ user_id }) => user_id))].filter((id) => id > 0);
  if (receivers.length > 0) {
    const active = await lockActiveShoppers(tx, receivers);
    if (receivers.some((id) => !active.has(id))) throw messageCentreErrors.shopper_not_found();
  }
  const rows = messages.map((message) => ({
    ...message,
    ...{ template: null, facts: null, event_id: null, created_at: now },
  }));
  await insertMessages(tx, rows);
}
