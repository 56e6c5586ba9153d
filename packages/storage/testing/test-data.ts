import type { TestData } from '@tradepost/testing/test-data';

/** A stored file, one that is being uploaded, and a package that refers to files. */
const rows = `
  insert into storage.files (id, state, driver, path, address, size, mime, owner_role, owner_id) overriding system value
    values (1, 'stored', 'local', '2026/11/1795468397123456789_0123456789ab.png',
            '/uploads/2026/11/1795468397123456789_0123456789ab.png', 68, 'image/png', 'user', 1),
           (2, 'pending', 'oss', '2026/11/1795468397123456790_0123456789ab.jpg', '', 0, 'image/jpeg', 'admin', 1);
  insert into storage.reference_names (name) values ('catalog');`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['storage.files', 'a stored file without a size', `update storage.files set size = 0 where id = 1`],
    [
      'storage.files',
      'the address of another file',
      `update storage.files set address = '/uploads/x.png' where id = 1`,
    ],
    [
      'storage.unfinished',
      'an upload that never ended',
      `update storage.files set changed_at = now() - interval '3 days' where id = 2`,
    ],
  ],
};
