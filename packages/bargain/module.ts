import { activityKinds, activityRoutes, adminAttemptRoutes } from '@tradepost/activities';
import { eventReaders, inboxTemplates, type Module } from '@tradepost/module';
import { priceSteps } from '@tradepost/pricing';
import { bargainAttempts } from './bargain-attempts.ts';
import { bargainAudits } from './bargain-audits.ts';
import { bargainEvents } from './bargain-events.ts';
import { bargainKind } from './bargain-kind.ts';
import { bargainRoutes } from './bargains/bargain-routes.ts';
import { bargainStep } from './bargains/bargain-step.ts';
import { expireBargains, expireTask } from './bargains/expire-bargains.ts';
import { freeReader } from './bargains/free-bargains.ts';
import { bargainInboxTemplates } from './inbox-templates.ts';
import { bargainMenu } from './menu.ts';
import { bargainRetention, failedBargainsDays } from './retention.ts';
import { bargainDemo } from './seed-demo.ts';
import { bargainInChangeLog, bargainTables } from './tables.ts';

export const bargainModule: Module = {
  name: 'bargain',
  needs: ['activities', 'orders'],
  tables: bargainTables,
  changeLog: bargainInChangeLog,
  settings: [failedBargainsDays],
  menu: bargainMenu,
  audits: bargainAudits,
  events: bargainEvents,
  retention: bargainRetention,
  seedDemo: bargainDemo,
  entries: [activityKinds.add(bargainKind), ...bargainInboxTemplates.map(inboxTemplates.add)],
  open: ({ runtime }) => ({
    contributions: [priceSteps.add(bargainStep), eventReaders.add(freeReader)],
    routes: () => [
      ...activityRoutes(runtime, bargainKind),
      ...bargainRoutes(runtime),
      ...adminAttemptRoutes(runtime, bargainAttempts),
    ],
    tasks: {
      async [expireTask](_payload, { log, signal, stopping = signal }) {
        const failed = await expireBargains(runtime, { signal: AbortSignal.any([signal, stopping]) });
        if (failed > 0) log.info({ failed }, 'bargains failed');
      },
    },
    // Repeats the work of jobs that were lost.
    crons: [{ task: expireTask, match: '* * * * *' }],
  }),
};
