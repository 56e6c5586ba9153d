import { type RetentionRule, retentionDays } from '@tradepost/runtime';
import { longestTokenHours } from './tokens/token-store.ts';

const messagesDays = retentionDays('messages', 90, 'messages to shoppers');
export const identityRetentionSettings = [messagesDays] as const;

export const identityRetention: readonly RetentionRule[] = [
  {
    name: 'revoked_tokens',
    about: 'login tokens that were revoked by a logout; deleted one day after their expiry',
    table: 'identity.revoked_tokens',
    age: 't.expires_at',
    days: 1,
  },
  {
    name: 'token_floors',
    about: 'token floors of accounts; deleted when all tokens below the floor have expired',
    table: 'identity.token_floors',
    age: 't.raised_at',
    days: longestTokenHours / 24 + 1,
  },
  {
    name: 'sms_codes',
    about: 'login codes sent by SMS',
    table: 'identity.sms_codes',
    age: 't.requested_at',
    days: 1,
  },
  {
    name: 'messages',
    about: 'messages to shoppers that were sent, have failed or were skipped',
    table: 'identity.messages',
    age: 't.created_at',
    where: (sql) => sql`t.status <> 'queued'`,
    days: messagesDays,
  },
];
