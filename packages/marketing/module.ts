import { couponIssuers, eventReaders, inboxTemplates, type Module, memberLevels } from '@tradepost/module';
import { priceSteps } from '@tradepost/pricing';
import { couponRoutes } from './coupons/coupon-routes.ts';
import { fullReduceStep } from './full-reductions/full-reduce-step.ts';
import { fullReductionRoutes } from './full-reductions/full-reduction-routes.ts';
import { couponIssuer } from './issuing/coupon-issuer.ts';
import type { FindLevels } from './issuing/target-store.ts';
import { marketingAudits } from './marketing-audits.ts';
import { couponIssued, couponTemplates } from './marketing-events.ts';
import { marketingMenu } from './menu.ts';
import { couponStep } from './pricing/coupon-step.ts';
import { expireCoupons } from './pricing/expire-coupons.ts';
import { returnReader } from './pricing/return-reader.ts';
import { marketingDemo } from './seed-demo-marketing.ts';
import { shopperCouponRoutes } from './storefront/shopper-coupon-routes.ts';
import { marketingInChangeLog, marketingTables } from './tables.ts';

const expireTask = 'marketing.expire_coupons';

export const marketingModule: Module = {
  name: 'marketing',
  needs: ['orders'],
  tables: marketingTables,
  changeLog: marketingInChangeLog,
  entries: couponTemplates.map(inboxTemplates.add),
  menu: marketingMenu,
  audits: marketingAudits,
  events: [couponIssued],
  seedDemo: marketingDemo,
  open({ runtime, entries }) {
    const levels: FindLevels = () => entries(memberLevels)[0];
    return {
      contributions: [
        priceSteps.add(fullReduceStep),
        priceSteps.add(couponStep),
        couponIssuers.add(couponIssuer),
        eventReaders.add(returnReader(runtime)),
      ],
      routes: () => [
        ...shopperCouponRoutes(runtime, levels),
        ...couponRoutes(runtime, levels),
        ...fullReductionRoutes(runtime),
      ],
      tasks: {
        async [expireTask](_payload, { log, signal, stopping = signal }) {
          const expired = await expireCoupons(runtime, AbortSignal.any([signal, stopping]));
          if (expired > 0) log.info({ expired }, 'coupons expired');
        },
      },
      crons: [{ task: expireTask, match: '25 * * * *' }],
    };
  },
};
