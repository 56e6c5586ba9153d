import { eventReaders, type Module } from '@tradepost/module';
import { cartActivities } from '@tradepost/orders';
import { priceSteps } from '@tradepost/pricing';
import { activityAudits } from './activity-audits.ts';
import { activitySoldOut } from './activity-events.ts';
import { activityKinds } from './activity-kinds.ts';
import { activityStep } from './orders/activity-step.ts';
import { cartEntry } from './orders/cart-entry.ts';
import { refundReader } from './orders/read-refunds.ts';
import { supplementRoute } from './storefront/storefront-routes.ts';
import { activitiesInChangeLog, activityTables } from './tables.ts';

export const activitiesModule: Module = {
  name: 'activities',
  needs: ['catalog', 'orders'],
  tables: activityTables,
  changeLog: activitiesInChangeLog,
  audits: activityAudits,
  events: [activitySoldOut],
  open(context) {
    const { runtime } = context;
    const kinds = context.entries(activityKinds);
    return {
      contributions: [
        priceSteps.add(activityStep(kinds)),
        cartActivities.add(cartEntry(runtime, kinds)),
        eventReaders.add(refundReader(runtime)),
      ],
      routes: () => [supplementRoute(runtime, kinds)],
    };
  },
};
