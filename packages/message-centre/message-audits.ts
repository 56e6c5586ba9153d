import type { Audit } from '@tradepost/runtime';

export const messageAudits: readonly Audit[] = [
  {
    name: 'message_centre.receivers',
    about: 'an inbox message to one shopper belongs to an existing account',
    // The dispatcher deletes the messages within seconds after the account.
    query: (sql, now) => sql`
      select m.id as message_id, m.user_id from message_centre.messages m
      left join identity.shoppers s on s.id = m.user_id
      where m.user_id > 0 and (s.id is null or s.deleted_at < ${now} - interval '1 hour')`,
  },
  {
    name: 'message_centre.reads',
    about: 'a mark on a broadcast names a broadcast, or one that retention has deleted',
    query: (sql) => sql`
      select r.user_id, r.message_id from message_centre.broadcast_reads r
      join message_centre.messages m on m.id = r.message_id where m.user_id <> 0`,
  },
  {
    name: 'message_centre.positions',
    about: 'no shopper has read broadcasts of the future',
    query: (sql) => sql`
      select p.user_id, p.message_group, p.up_to_id from message_centre.read_positions p
      where p.up_to_id > coalesce((select last_value from message_centre.messages_id_seq), 0)`,
  },
];
