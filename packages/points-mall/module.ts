import { couponIssuers, dashboardCards, inboxTemplates, type Module } from '@tradepost/module';
import { logRemarks, pointsStats } from '@tradepost/points';
import { fileReferences } from '@tradepost/storage';
import { pendingExchanges } from './dashboard-cards.ts';
import { adminExchangeRoutes } from './exchanges/admin-exchange-routes.ts';
import { exchangeRemarks } from './exchanges/exchange-remarks.ts';
import { exchangeRoutes } from './exchanges/exchange-routes.ts';
import { countExchanges } from './exchanges/exchange-store.ts';
import { mallFiles } from './file-references.ts';
import { mallInboxTemplates } from './inbox-templates.ts';
import { mallAudits } from './mall-audits.ts';
import { mallEvents } from './mall-events.ts';
import { mallMenu } from './menu.ts';
import { adminProductRoutes } from './products/admin-product-routes.ts';
import { countProducts } from './products/product-store.ts';
import { shelfRoutes } from './products/shelf-routes.ts';
import { mallDemo } from './seed-demo-mall.ts';
import { mallInChangeLog, mallTables } from './tables.ts';

export const pointsMallModule: Module = {
  name: 'points-mall',
  needs: ['identity', 'points'],
  tables: mallTables,
  changeLog: mallInChangeLog,
  menu: mallMenu,
  audits: mallAudits,
  events: mallEvents,
  seedDemo: mallDemo,
  entries: [
    dashboardCards.add(pendingExchanges),
    fileReferences.add(mallFiles),
    ...mallInboxTemplates.map((template) => inboxTemplates.add(template)),
  ],
  open: ({ runtime, entries }) => ({
    contributions: [
      logRemarks.add(exchangeRemarks),
      pointsStats.add({ field: 'product_count', count: countProducts }),
      pointsStats.add({ field: 'exchange_count', count: countExchanges }),
    ],
    routes() {
      const [coupons] = entries(couponIssuers);
      return [
        ...shelfRoutes(runtime),
        ...exchangeRoutes(runtime, coupons),
        ...adminProductRoutes(runtime, coupons),
        ...adminExchangeRoutes(runtime),
      ];
    },
  }),
};
