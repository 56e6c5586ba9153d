import { type RetentionRule, retentionDays } from '@tradepost/runtime';

const usageDays = retentionDays('gateway_usage', 400, 'usage records of the gateway');
const tokensDays = retentionDays('gateway_tokens', 400, 'expired and revoked API tokens without usage records');
const changesDays = retentionDays('gateway_token_changes', 730, 'changes of API tokens in the trail');
export const gatewayRetentionSettings = [usageDays, tokensDays, changesDays] as const;

export const gatewayRetention: readonly RetentionRule[] = [
  {
    name: 'gateway_usage',
    about: 'usage records of the LLM gateway that have ended',
    table: 'gateway.usage',
    age: 't.started_at',
    where: (sql) => sql`t.state <> 'open'`,
    days: usageDays,
  },
  {
    name: 'gateway_tokens',
    about: 'expired and revoked API tokens, once no usage record names them',
    table: 'gateway.api_tokens',
    age: 'least(t.expires_at, t.revoked_at)',
    where: (sql) => sql`not exists (select from gateway.usage u where u.token_id = t.id)`,
    days: tokensDays,
  },
  {
    name: 'gateway_token_changes',
    // The trail of a token is kept as long as the token: audits compare the two.
    about: 'changes of the limits of shoppers, and of deleted API tokens',
    table: 'gateway.token_changes',
    age: 't.changed_at',
    where: (sql) => sql`
      (t.token_id is null or not exists (select from gateway.api_tokens a where a.id = t.token_id))`,
    days: changesDays,
  },
];
