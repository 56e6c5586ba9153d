import type { Audit } from '@tradepost/runtime';

export const storageAudits: readonly Audit[] = [
  {
    name: 'storage.files',
    about: 'every stored file has a size, and an address that ends with its path',
    query: (sql) => sql`
      select id as file_id, driver, path, address, size from storage.files
      where state = 'stored' and (size <= 0 or right(address, length(path) + 1) <> '/' || path)`,
  },
  {
    name: 'storage.unfinished',
    about: 'no upload and no removal of a file stays unfinished for two days: the clean-up ends them',
    pendingWork: true,
    query: (sql, now) => sql`
      select id as file_id, driver, path, state, changed_at from storage.files
      where state <> 'stored' and changed_at < ${now} - interval '2 days'`,
  },
];
