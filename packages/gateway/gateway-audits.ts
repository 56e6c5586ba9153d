import type { Audit } from '@tradepost/runtime';

export const gatewayAudits: readonly Audit[] = [
  {
    name: 'gateway.token_users',
    about: 'every API token and every limit belongs to a shopper; rows of deleted accounts stay',
    query: (sql) => sql`
      select 'token' as kind, t.id as token_id, t.user_id
      from gateway.api_tokens t left join identity.shoppers s on s.id = t.user_id where s.id is null
      union all
      select 'limits', null, u.user_id
      from gateway.user_limits u left join identity.shoppers s on s.id = u.user_id where s.id is null`,
  },
  {
    name: 'gateway.token_trail',
    about: 'the trail has one creation of every API token, and one revocation of every revoked token',
    query: (sql) => sql`
      select t.id as token_id, t.user_id, t.revoked_at, coalesce(c.made, 0) as made, coalesce(c.revoked, 0) as revoked
      from gateway.api_tokens t
      left join (
        select token_id, count(*) filter (where action = 'create')::int as made,
               count(*) filter (where action = 'revoke')::int as revoked
        from gateway.token_changes where token_id is not null group by token_id) as c on c.token_id = t.id
      where coalesce(c.made, 0) <> 1 or coalesce(c.revoked, 0) <> case when t.revoked_at is null then 0 else 1 end`,
  },
  {
    name: 'gateway.token_limits_trail',
    about: 'the limits of an API token are those of its last change in the trail',
    query: (sql) => sql`
      select t.id as token_id, t.rpm_limit, t.tpm_limit, r.details as rpm_change, m.details as tpm_change
      from gateway.api_tokens t
      left join (
        select distinct on (token_id) token_id, coalesce(details -> 'after', details) as details from gateway.token_changes
        where coalesce(details -> 'after', details) ? 'rpm_limit' order by token_id, id desc) as r on r.token_id = t.id
      left join (
        select distinct on (token_id) token_id, coalesce(details -> 'after', details) as details from gateway.token_changes
        where coalesce(details -> 'after', details) ? 'tpm_limit' order by token_id, id desc) as m on m.token_id = t.id
      where (r.token_id is not null and t.rpm_limit is distinct from (r.details ->> 'rpm_limit')::bigint)
         or (m.token_id is not null and t.tpm_limit is distinct from (m.details ->> 'tpm_limit')::bigint)`,
  },
  {
    name: 'gateway.usage_ends',
    about: 'a request has an end exactly when it is not open',
    query: (sql) => sql`
      select id as usage_id, state, started_at, ended_at, input_tokens, output_tokens
      from gateway.usage
      where (state = 'open') <> (ended_at is null)`,
  },
  {
    name: 'gateway.usage_tokens',
    about: 'the token of a usage record belongs to the user of the record',
    query: (sql) => sql`
      select u.id as usage_id, u.token_id, u.user_id, t.user_id as owner
      from gateway.usage u left join gateway.api_tokens t on t.id = u.token_id
      where t.user_id is distinct from u.user_id`,
  },
];
