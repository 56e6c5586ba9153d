import type { Audit } from '@tradepost/runtime';

export const identityAudits: readonly Audit[] = [
  {
    name: 'identity.default_address',
    about: 'a shopper with addresses has exactly one default',
    query: (sql) => sql`
      select user_id, count(*) as addresses, count(*) filter (where is_default) as defaults
      from identity.addresses group by user_id having count(*) filter (where is_default) <> 1`,
  },
  {
    name: 'identity.message_orphans',
    about: 'every message was sent to an existing or deleted shopper',
    query: (sql) => sql`
      select m.user_id, count(*) as messages from identity.messages m
      left join identity.shoppers s on s.id = m.user_id
      where s.id is null group by m.user_id`,
  },
  {
    name: 'identity.messages_late',
    about: 'no message waits for longer than an hour after it is due',
    pendingWork: true,
    query: (sql, now) => sql`
      select id as message_id, notice, due_at from identity.messages
      where status = 'queued' and due_at < ${now} - interval '1 hour'`,
  },
];
