import { couponIssuers, eventReaders, inboxTemplates, type Module, memberLevels } from '@tradepost/module';
import { paymentSubjects, subjectPaymentsService } from '@tradepost/orders';
import { priceSteps } from '@tradepost/pricing';
import { ruleRoutes } from './coupon-rules/rule-routes.ts';
import { growthReader } from './growth/read-events.ts';
import { vipInboxTemplates } from './inbox-templates.ts';
import { levelRoutes } from './levels/level-routes.ts';
import { selectActiveLevels, selectMembersWith } from './memberships/asset-store.ts';
import { deletionReader, purchasePayments, sweepTask, sweepVip } from './memberships/end-memberships.ts';
import { membershipRoutes } from './memberships/membership-routes.ts';
import { vipMenu } from './menu.ts';
import { planRoutes } from './plans/plan-routes.ts';
import { vipRetention } from './retention.ts';
import { vipDemo } from './seed-demo-vip.ts';
import { vipSettings } from './settings.ts';
import { memberStep } from './sku-prices/member-step.ts';
import { priceRoutes } from './sku-prices/price-routes.ts';
import { vipInChangeLog, vipTables } from './tables.ts';
import { vipAudits } from './vip-audits.ts';
import { membershipOpened } from './vip-events.ts';

export const vipModule: Module = {
  name: 'vip',
  needs: ['orders'],
  tables: vipTables,
  changeLog: vipInChangeLog,
  entries: vipInboxTemplates.map(inboxTemplates.add),
  settings: vipSettings,
  menu: vipMenu,
  audits: vipAudits,
  events: [membershipOpened],
  retention: vipRetention,
  seedDemo: vipDemo,
  open(context) {
    const { runtime } = context;
    const payments = context.service(subjectPaymentsService);
    const coupons = () => context.entries(couponIssuers)[0];
    return {
      contributions: [
        priceSteps.add(memberStep),
        paymentSubjects.add(purchasePayments(runtime)),
        memberLevels.add({ levelsOf: selectActiveLevels, membersWith: selectMembersWith }),
        eventReaders.add(deletionReader(runtime, payments)),
        eventReaders.add(growthReader(runtime)),
      ],
      routes: () => [
        ...membershipRoutes(runtime, payments, coupons),
        ...planRoutes(runtime),
        ...levelRoutes(runtime),
        ...ruleRoutes(runtime, coupons),
        ...priceRoutes(runtime),
      ],
      tasks: {
        async [sweepTask](_payload, { log, signal, stopping = signal }) {
          const ended = await sweepVip({ runtime, payments }, AbortSignal.any([signal, stopping]));
          if (ended.memberships + ended.purchases > 0) log.info(ended, 'memberships and unpaid purchases ended');
        },
      },
      crons: [{ task: sweepTask, match: '*/5 * * * *' }],
    };
  },
};
