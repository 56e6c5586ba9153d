import type { RetentionRule } from '@tradepost/runtime';
import { longestTokenHours } from './tokens/token-store.ts';

export const identityRetention: readonly RetentionRule[] = [
  {
    name: 'revoked_tokens',
    about: 'login tokens that were ended by a logout, a day after they would have expired',
    table: 'identity.revoked_tokens',
    age: 't.expires_at',
    days: 1,
  },
  {
    name: 'token_floors',
    about: 'ends of all tokens of an account, once no token from before can still live',
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
];
