import { dashboardCards, eventReaders, inboxTemplates, type Module } from '@tradepost/module';
import { priceSteps } from '@tradepost/pricing';
import { fractionRoutes } from './back-office/fraction-routes.ts';
import { percentRoutes } from './back-office/percent-routes.ts';
import { commissionStep } from './commissions/commission-step.ts';
import { commissionReader } from './commissions/read-order-events.ts';
import { distributionConfig } from './config/distribution-config.ts';
import { pendingWithdrawals } from './dashboard-cards.ts';
import { distributionAudits } from './distribution-audits.ts';
import { distributionEvents } from './distribution-events.ts';
import { deletionReader } from './distributors/forget-shoppers.ts';
import { distributionInboxTemplates } from './inbox-templates.ts';
import { distributionMenu } from './menu.ts';
import { distributionDemo } from './seed-demo-distributors.ts';
import { distributionRoutes } from './storefront/distribution-routes.ts';
import { distributionInChangeLog, distributionSealed, distributionTables } from './tables.ts';

export const distributionModule: Module = {
  name: 'distribution',
  needs: ['identity', 'orders'],
  tables: distributionTables,
  changeLog: distributionInChangeLog,
  sealed: distributionSealed,
  settings: [distributionConfig],
  menu: distributionMenu,
  audits: distributionAudits,
  events: distributionEvents,
  seedDemo: distributionDemo,
  entries: [dashboardCards.add(pendingWithdrawals), ...distributionInboxTemplates.map(inboxTemplates.add)],
  open: ({ runtime }) => ({
    contributions: [
      priceSteps.add(commissionStep(runtime)),
      eventReaders.add(commissionReader(runtime)),
      eventReaders.add(deletionReader(runtime)),
    ],
    routes: () => [...distributionRoutes(runtime), ...percentRoutes(runtime), ...fractionRoutes(runtime)],
  }),
};
