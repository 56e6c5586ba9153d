import {
  dashboardCards,
  dashboardLists,
  eventReaders,
  importedOrderReaders,
  type Module,
  reportFacts,
} from '@tradepost/module';
import { createConcurrencyLimit } from '@tradepost/runtime';
import { analyticsAudits } from './analytics-audits.ts';
import { dashboardRoutes } from './dashboard/dashboard-routes.ts';
import { markOrders } from './days/day-store.ts';
import { changedDaysReader } from './days/mark-changed-days.ts';
import { rollDays } from './days/roll-days.ts';
import { reportSlots } from './limits.ts';
import { reportRoutes } from './reports/report-routes.ts';
import { analyticsRetention, analyticsSettings } from './retention.ts';
import { analyticsInChangeLog, analyticsTables } from './tables.ts';
import { openRecorder } from './visits/record-visits.ts';
import { visitRoutes } from './visits/visit-routes.ts';

const rollTask = 'analytics.roll';

export const analyticsModule: Module = {
  name: 'analytics',
  needs: ['identity'],
  tables: analyticsTables,
  changeLog: analyticsInChangeLog,
  settings: analyticsSettings,
  retention: analyticsRetention,
  audits: analyticsAudits,
  // The days of imported orders are counted again.
  entries: [importedOrderReaders.add(markOrders)],
  open(context) {
    const { runtime } = context;
    const recorder = openRecorder(runtime);
    const slots = createConcurrencyLimit(reportSlots);
    const facts = new Set(context.entries(reportFacts));
    const has = { orders: facts.has('orders'), products: facts.has('products') };
    return {
      contributions: [eventReaders.add(changedDaysReader)],
      routes: () => [
        ...dashboardRoutes({
          runtime,
          cards: context.entries(dashboardCards),
          lists: context.entries(dashboardLists),
          hasOrders: has.orders,
          slots,
        }),
        ...reportRoutes({ runtime, has, slots }),
        ...visitRoutes(runtime, recorder),
      ],
      tasks: {
        async [rollTask](_payload, { log, signal, stopping = signal }) {
          const days = await rollDays(runtime, { signal: AbortSignal.any([signal, stopping]) });
          if (days > 0) log.debug({ days }, 'days were counted for reports');
        },
      },
      crons: [{ task: rollTask, match: '* * * * *' }],
    };
  },
};
