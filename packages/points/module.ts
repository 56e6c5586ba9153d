import { profileSections } from '@tradepost/identity';
import { eventReaders, inboxTemplates, type Module } from '@tradepost/module';
import { priceSteps } from '@tradepost/pricing';
import { expirePoints, expiryTask } from './expiry/expire-points.ts';
import { selectBalances } from './ledger/ledger-store.ts';
import { logRemarks } from './ledger/log-remarks.ts';
import { foldSums } from './ledger/sums-store.ts';
import { pointsMenu } from './menu.ts';
import { orderReader } from './orders/order-reader.ts';
import { pointsStep } from './orders/points-step.ts';
import { pointsAudits } from './points-audits.ts';
import { pointsEvents, pointsInboxTemplates } from './points-events.ts';
import { pointsStats } from './points-stats.ts';
import { shopperRoutes } from './routes/shopper-routes.ts';
import { staffRoutes } from './routes/staff-routes.ts';
import { pointsDemo } from './seed-demo-points.ts';
import { pointsSettings } from './settings.ts';
import { pointsInChangeLog, pointsTables } from './tables.ts';

const foldTask = 'points.fold_sums';

export const pointsModule: Module = {
  name: 'points',
  needs: ['identity', 'orders'],
  tables: pointsTables,
  changeLog: pointsInChangeLog,
  settings: pointsSettings,
  menu: pointsMenu,
  seedDemo: pointsDemo,
  audits: pointsAudits,
  events: pointsEvents,
  entries: pointsInboxTemplates.map(inboxTemplates.add),
  open(context) {
    const { runtime } = context;
    return {
      contributions: [
        priceSteps.add(pointsStep(runtime)),
        eventReaders.add(orderReader(runtime)),
        profileSections.add({
          field: 'points',
          read: async (sql, userId) => (await selectBalances(sql, [userId])).get(userId) ?? 0,
        }),
      ],
      routes() {
        const remarks = context.entries(logRemarks);
        return [
          ...shopperRoutes(runtime, remarks),
          ...staffRoutes(runtime, { stats: context.entries(pointsStats), remarks }),
        ];
      },
      tasks: {
        async [expiryTask](_payload, { log, signal, stopping = signal }) {
          const accounts = await expirePoints(runtime, { signal: AbortSignal.any([signal, stopping]) });
          if (accounts > 0) log.info({ accounts }, 'points expired');
        },
        async [foldTask]() {
          await foldSums(runtime.sql);
        },
      },
      crons: [
        { task: expiryTask, match: '40 2 * * *' },
        { task: foldTask, match: '* * * * *' },
      ],
    };
  },
};
