import type { Audit } from '@tradepost/runtime';

export const changeLogAudits: readonly Audit[] = [
  {
    name: 'change_log.tables',
    about: 'a change is in a watched table',
    query: (sql) => sql`
      select table_name, count(*)::int as changes, max(id) as newest
      from change_log.changes where table_name not in (select table_name from change_log.watched_tables)
      group by table_name`,
  },
  {
    name: 'change_log.secrets',
    about: 'no change has the value of a secret column',
    query: (sql) => sql`
      select c.id as change_id, c.table_name, secret as column_name
      from change_log.changes c
      join change_log.watched_tables w using (table_name)
      cross join unnest(w.secrets) as secret
      where coalesce(c.before ->> secret, '***') <> '***' or coalesce(c.after ->> secret, '***') <> '***'`,
  },
];
