import { type TestData, withoutConstraints } from '@tradepost/testing/test-data';

/** A token with a limit, a revoked token, and the usage of an ended and of a running request. */
const rows = `
  insert into gateway.api_tokens (id, user_id, prefix, token_hash, rpm_limit, revoked_at) overriding system value
    values (1, 1, 'tp-aaaaaaaa', 'a', 600, null), (2, 2, 'tp-bbbbbbbb', 'b', null, now());
  insert into gateway.user_limits (user_id, rpm_limit) values (1, 600);
  insert into gateway.token_changes (token_id, user_id, action, details, changed_by)
    values (1, 1, 'create', '{"rpm_limit": null, "tpm_limit": null}', 'cli'), (2, 2, 'create', '{"rpm_limit": null}', 'cli'),
           (1, 1, 'update', '{"before": {"rpm_limit": null}, "after": {"rpm_limit": 600}}', 'admin:1'), (2, 2, 'revoke', '{}', 'cli');
  insert into gateway.usage (id, user_id, token_id, endpoint, model, state, estimated_input_tokens, max_output_tokens, started_at, ended_at)
    values ('00000000-0000-4000-8000-000000000001', 1, 1, 'chat', 'm', 'done', 1, 1, now() - interval '1 s', now()),
           ('00000000-0000-4000-8000-000000000002', 1, 1, 'chat', 'm', 'open', 1, 1, now(), null);`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['gateway.token_users', 'a token without a shopper', `update gateway.api_tokens set user_id = 99 where id = 2`],
    ['gateway.token_users', 'limits without a shopper', `update gateway.user_limits set user_id = 99`],
    [
      'gateway.token_trail',
      'a token without a creation',
      `delete from gateway.token_changes where action = 'create' and token_id = 1`,
    ],
    [
      'gateway.token_trail',
      'a revoked token without a revocation',
      `delete from gateway.token_changes where action = 'revoke'`,
    ],
    [
      'gateway.token_trail',
      'a valid token with a revocation',
      `update gateway.api_tokens set revoked_at = null where id = 2`,
    ],
    [
      'gateway.token_limits_trail',
      'a changed limit of requests without a change in the trail',
      `update gateway.api_tokens set rpm_limit = 0 where id = 1`,
    ],
    [
      'gateway.token_limits_trail',
      'a changed limit of tokens without a change in the trail',
      `update gateway.api_tokens set tpm_limit = 5 where id = 1`,
    ],
    [
      'gateway.usage_ends',
      'an ended request without an end',
      `${withoutConstraints('gateway.usage')} update gateway.usage set ended_at = null`,
    ],
    [
      'gateway.usage_ends',
      'an open request with an end',
      `${withoutConstraints('gateway.usage')} update gateway.usage set state = 'open'`,
    ],
    ['gateway.usage_tokens', 'a usage record of another user', `update gateway.usage set user_id = 2`],
    [
      'gateway.usage_tokens',
      'a usage record without a token',
      `update gateway.usage set token_id = 99 where state = 'open'`,
    ],
  ],
  makers: {
    // A pattern that matches all settings of the rate limiter, as a request changes several of them.
    settings: async () => ['ratelimit.*'],
  },
};
