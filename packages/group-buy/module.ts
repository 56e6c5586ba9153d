import { activityKinds, activityRoutes, adminAttemptRoutes } from '@tradepost/activities';
import { eventReaders, inboxTemplates, type Module } from '@tradepost/module';
import { paidOrdersService, shippingHolds } from '@tradepost/orders';
import { priceSteps } from '@tradepost/pricing';
import { groupAttempts } from './group-attempts.ts';
import { groupAudits } from './group-audits.ts';
import { groupBuyKind } from './group-buy-kind.ts';
import { groupEvents } from './group-events.ts';
import { expireGroups, expireTask } from './groups/expire-groups.ts';
import { groupRoutes } from './groups/group-routes.ts';
import { leaderStep } from './groups/leader-step.ts';
import { leaveReader } from './groups/leave-groups.ts';
import { groupHold } from './groups/shipping-hold.ts';
import { groupInboxTemplates } from './inbox-templates.ts';
import { groupBuyMenu } from './menu.ts';
import { failedGroupsDays, groupBuyRetention } from './retention.ts';
import { groupBuyDemo } from './seed-demo.ts';
import { groupBuyInChangeLog, groupBuyTables } from './tables.ts';

export const groupBuyModule: Module = {
  name: 'group-buy',
  needs: ['activities', 'orders', 'fulfilment'],
  tables: groupBuyTables,
  changeLog: groupBuyInChangeLog,
  settings: [failedGroupsDays],
  menu: groupBuyMenu,
  audits: groupAudits,
  events: groupEvents,
  retention: groupBuyRetention,
  seedDemo: groupBuyDemo,
  entries: [
    activityKinds.add(groupBuyKind),
    shippingHolds.add(groupHold),
    ...groupInboxTemplates.map(inboxTemplates.add),
  ],
  open(context) {
    const { runtime } = context;
    const paidOrders = context.service(paidOrdersService);
    return {
      contributions: [priceSteps.add(leaderStep), eventReaders.add(leaveReader)],
      routes: () => [
        ...activityRoutes(runtime, groupBuyKind),
        ...groupRoutes(runtime),
        ...adminAttemptRoutes(runtime, groupAttempts),
      ],
      tasks: {
        async [expireTask](_payload, { log, signal, stopping = signal }) {
          const done = await expireGroups(
            { runtime, paidOrders },
            { log, signal: AbortSignal.any([signal, stopping]) },
          );
          if (done.failed + done.cancelled > 0) log.info(done, 'groups failed, and orders of failed groups cancelled');
        },
      },
      // Repeats the work of jobs that were lost, and cancels orders that were paid after their group had failed.
      crons: [{ task: expireTask, match: '* * * * *' }],
    };
  },
};
