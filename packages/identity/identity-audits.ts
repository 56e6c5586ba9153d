import type { Audit } from '@tradepost/runtime';

export const identityAudits: readonly Audit[] = [
  {
    name: 'identity.default_address',
    about: 'a shopper with addresses has exactly one default',
    query: (sql) => sql`
      select user_id, count(*) as addresses, count(*) filter (where is_default) as defaults
      from identity.addresses group by user_id having count(*) filter (where is_default) <> 1`,
  },
];
