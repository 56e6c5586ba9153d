import { isoInZone, type Locale } from '@tradepost/core';
import type { ReadTexts } from '../templates/message-texts.ts';
import type { InboxMessage } from './message.ts';

/** A message as both sides see it, in the language of the reader. */
export function messageView(
  message: InboxMessage & { readonly is_read: boolean },
  { texts, zone, locale }: { texts: ReadTexts; zone: string; locale: Locale },
) {
  const { id, user_id, message_group, priority, is_read, created_at } = message;
  return {
    ...{ id, user_id, group: message_group, priority },
    ...texts(message, locale),
    is_read: is_read ? (1 as const) : (0 as const),
    created_at: isoInZone(created_at, zone),
  };
}

/** Counts by group, with 0 for groups without a row. */
export const countsByGroup = <G extends string>(
  groups: readonly G[],
  rows: readonly { message_group: G; unread: number }[],
): Record<G, number> => {
  const found = new Map(rows.map(({ message_group, unread }) => [message_group, unread]));
  return Object.fromEntries(groups.map((group) => [group, found.get(group) ?? 0])) as Record<G, number>;
};
