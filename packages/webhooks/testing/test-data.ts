import type { TestData } from '@tradepost/testing/test-data';

/** An endpoint with a delivered, a waiting and a failed delivery. Its host has no address. */
const rows = `
  insert into webhooks.endpoints (id, url, secret_sealed) values (1, 'https://hooks.invalid/shop', 'not a sealed text');
  insert into webhooks.deliveries (
    id, endpoint_id, event_id, kind, subject, body, status, ready, attempts, due_at, last_status, last_error, occurred_at, ended_at)
    overriding system value values
    (1, 1, 1, 'order.placed', 'order:1', '{}', 'delivered', false, 1, now(), 200, '', now(), now()),
    (2, 1, 2, 'order.paid', 'order:1', '{}', 'waiting', true, 0, now(), null, '', now(), null),
    (3, 1, 3, 'order.paid', 'order:2', '{}', 'failed', false, 9, now(), 500, 'HTTP 500', now(), now());
  insert into webhooks.attempts (delivery_id, started_at, duration_ms, status, error, answer)
    values (1, now(), 12, 200, '', 'ok');`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['webhooks.endpoints', 'of no endpoint', `update webhooks.deliveries set endpoint_id = 99 where id = 3`],
    ['webhooks.next', 'the next one was forgotten', `update webhooks.deliveries set ready = false`],
    ['webhooks.attempts', 'delivered without an attempt', `update webhooks.deliveries set attempts = 0 where id = 1`],
    ['webhooks.attempts', 'delivered with an error', `update webhooks.deliveries set last_status = 500 where id = 1`],
    ['webhooks.attempts', 'failed without an error', `update webhooks.deliveries set last_error = '' where id = 3`],
  ],
  makers: {
    // More than a shop may have, for the tests with many rows.
    endpoints: async ({ sql }, count) => {
      const made = await sql<{ id: number }[]>`
        insert into webhooks.endpoints (id, url, secret_sealed)
        -- From a sequence: makers run at the same time.
        select 1000000 + nextval(pg_get_serial_sequence('webhooks.endpoints', 'id')), 'https://hooks.invalid/' || n, 'not a sealed text'
        from generate_series(1, ${count}) n returning id`;
      return made.map(({ id }) => id);
    },
    deliveries: async ({ sql }, count) => {
      const made = await sql<{ id: number }[]>`
        insert into webhooks.deliveries (endpoint_id, event_id, kind, subject, body, ready, due_at, occurred_at)
        select 1, e.id, 'order.paid', 'order:' || e.id, '{}', true, now(), now()
        from (select 1000000 + nextval(pg_get_serial_sequence('webhooks.deliveries', 'id')) as id from generate_series(1, ${count})) e
        returning id`;
      return made.map(({ id }) => id);
    },
  },
};
