import { type RetentionRule, retentionDays } from '@tradepost/runtime';

export const inboxDays = retentionDays('inbox_messages', 365, 'inbox messages of shoppers and broadcasts');

export const messageCentreRetention: readonly RetentionRule[] = [
  {
    name: 'inbox_messages',
    about: 'inbox messages of shoppers and broadcasts, read or not',
    table: 'message_centre.messages',
    age: 't.created_at',
    days: inboxDays,
  },
  {
    name: 'inbox_reads',
    about: 'the marks of shoppers on broadcasts that are deleted',
    table: 'message_centre.broadcast_reads',
    age: 't.read_at',
    // A mark is younger than its broadcast, so its broadcast is old enough too. Without its mark a broadcast would be unread again.
    where: (sql) => sql`not exists (select from message_centre.messages m where m.id = t.message_id)`,
    days: inboxDays,
  },
];
