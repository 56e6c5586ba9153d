import { type Module, reportFacts } from '@tradepost/module';
import { fileReferences } from '@tradepost/storage';
import { catalogAudits } from './catalog-audits.ts';
import { catalogFiles } from './file-references.ts';
import { catalogMenu } from './menu.ts';
import { refreshSales } from './products/product-list-store.ts';
import { productSections } from './products/product-sections.ts';
import { catalogRoutes } from './routes.ts';
import { catalogDemo } from './seed-demo-catalogue.ts';
import { catalogSettings } from './settings.ts';
import { stockOwnerIn } from './stock-ownership/stock-owner.ts';
import { catalogInChangeLog, catalogPublishes, catalogTables } from './tables.ts';

const salesTask = 'catalog.refresh_sales';

export const catalogModule: Module = {
  name: 'catalog',
  needs: ['identity'],
  tables: catalogTables,
  changeLog: catalogInChangeLog,
  publishes: catalogPublishes,
  entries: [fileReferences.add(catalogFiles), reportFacts.add('products')],
  settings: catalogSettings,
  menu: catalogMenu,
  seedDemo: catalogDemo,
  audits: catalogAudits,
  open: (context) => ({
    routes: () => catalogRoutes(context.runtime, stockOwnerIn(context), context.entries(productSections)),
    tasks: {
      async [salesTask](_payload, { log }) {
        const moved = await refreshSales(context.runtime.sql);
        if (moved > 0) log.debug({ moved }, 'best sellers refreshed');
      },
    },
    crons: [{ task: salesTask, match: '* * * * *' }],
  }),
};
