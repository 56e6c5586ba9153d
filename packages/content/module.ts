import { type Module, shopDecoration } from '@tradepost/module';
import { fileReferences } from '@tradepost/storage';
import { contentAudits } from './content-audits.ts';
import { adminDecorRoutes } from './decor/admin-routes.ts';
import { decorationStatus } from './decor/decoration-status.ts';
import { openPageCache } from './decor/page-cache.ts';
import { storefrontDecorRoutes } from './decor/storefront-routes.ts';
import { variantRoutes } from './decor/variant-routes.ts';
import { contentFiles } from './file-references.ts';
import { contentMenu } from './menu.ts';
import { contentRetention } from './retention.ts';
import { contentDemo } from './seed-demo-decor.ts';
import { contentSettings } from './settings.ts';
import { contentInChangeLog, contentTables } from './tables.ts';

export const contentModule: Module = {
  name: 'content',
  needs: ['identity'],
  tables: contentTables,
  changeLog: contentInChangeLog,
  settings: contentSettings,
  entries: [fileReferences.add(contentFiles), shopDecoration.add(decorationStatus)],
  menu: contentMenu,
  audits: contentAudits,
  retention: contentRetention,
  seedDemo: contentDemo,
  async open({ runtime }) {
    const cache = await openPageCache(runtime);
    return {
      routes: () => [
        ...storefrontDecorRoutes(runtime, cache),
        ...adminDecorRoutes(runtime, cache),
        ...variantRoutes(runtime, cache),
      ],
      close: () => cache.close(),
    };
  },
};
