import type { TestData } from '@tradepost/testing/test-data';

/** Two shoppers with addresses. */
const rows = `
  insert into identity.shoppers (id, nickname) overriding system value values (1, 'Ann'), (2, 'Bob');
  insert into identity.addresses (user_id, name, phone, is_default)
    values (1, 'Ann', '13800000000', true), (1, 'Ann', '13800000001', false), (2, 'Bob', '13800000002', true);`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['identity.default_address', 'no default', `update identity.addresses set is_default = false where user_id = 1`],
    [
      'identity.default_address',
      'two defaults',
      `drop index identity.addresses_one_default; update identity.addresses set is_default = true where user_id = 1`,
    ],
  ],
  makers: {
    users: async ({ owner }) => [owner.id],
  },
};
