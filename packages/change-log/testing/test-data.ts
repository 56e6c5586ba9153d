import type { TestData } from '@tradepost/testing/test-data';

const rows = `
  insert into change_log.changes
    (source, staff_id, actor_name, address, request_id, action, table_name, row_id, operation, before, after)
  values
    ('api', 1, 'admin', '203.0.113.7', 'r1', 'PUT /admin/api/products/:id', 'catalog.products', '1', 'update',
     '{"title": "Mug"}', '{"title": "Enamel mug"}'),
    ('cli', null, 'operator', '', 'r2', 'staff create', 'identity.staff', '2', 'insert', null,
     '{"id": 2, "username": "ann", "password_hash": "***"}');`;

export const testData: TestData = {
  rows,
  auditCases: [
    [
      'change_log.tables',
      'of a table that is not watched',
      `update change_log.changes set table_name = 'orders.cart_lines' where id = 1`,
    ],
    [
      'change_log.secrets',
      'with a hash after the change',
      `update change_log.changes set after = after || '{"password_hash": "$argon2id$"}' where id = 2`,
    ],
    [
      'change_log.secrets',
      'with a hash before the change',
      `update change_log.changes set table_name = 'identity.staff', before = '{"password_hash": "$argon2id$"}' where id = 1`,
    ],
  ],
};
