import type { TestData } from '@tradepost/testing/test-data';

/** Two shoppers with addresses, and a message to each of them. */
const rows = `
  insert into identity.shoppers (id, nickname) overriding system value values (1, 'Ann'), (2, 'Bob');
  insert into identity.addresses (user_id, name, phone, is_default)
    values (1, 'Ann', '13800000000', true), (1, 'Ann', '13800000001', false), (2, 'Bob', '13800000002', true);
  insert into identity.messages (batch, notice, channel, user_id, phone, params, status, attempts, due_at, sent_at)
    values ('0b8f2f0e-6c0e-4a51-8f60-6f1f8a3f9c01', 'order_shipped', 'sms', 1, '13800000000', '{"order_no": "N3"}', 'sent', 1, now(), now()),
           ('0b8f2f0e-6c0e-4a51-8f60-6f1f8a3f9c01', 'order_shipped', 'sms', 2, '13800000002', '{"order_no": "N3"}', 'queued', 0, now(), null);`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['identity.default_address', 'no default', `update identity.addresses set is_default = false where user_id = 1`],
    [
      'identity.default_address',
      'two defaults',
      `drop index identity.addresses_one_default; update identity.addresses set is_default = true where user_id = 1`,
    ],
    [
      'identity.message_orphans',
      'a message to no shopper',
      `update identity.messages set user_id = 99 where user_id = 1`,
    ],
    [
      'identity.messages_late',
      'a message whose job was lost',
      `update identity.messages set due_at = now() - interval '2 hours' where user_id = 2`,
    ],
  ],
  makers: {
    users: async ({ owner }) => [owner.id],
  },
};
