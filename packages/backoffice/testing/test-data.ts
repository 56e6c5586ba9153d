import type { TestData } from '@tradepost/testing/test-data';

export const testData: TestData = {
  rows: `
  insert into backoffice.announcements (title, content, type) values ('Stock count', 'On Friday', 'normal');
  insert into backoffice.announcements (title, content, withdrawn_at) values ('Old', 'Gone', now());`,
  auditCases: [
    [
      'backoffice.announcements',
      'more than the shop may have',
      `insert into backoffice.announcements (title, content) select 'x', 'x' from generate_series(1, 1001)`,
    ],
  ],
  // Plugins are declared with settings. No request creates one.
  makers: { config: async () => ['delivery_router'] },
};
