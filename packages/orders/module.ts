import { messengerService, shopperNotices } from '@tradepost/identity';
import { inventoryProviders, inventoryService, orderStatusWriters, remoteProviderNames } from '@tradepost/inventory';
import { dashboardCards, eventReaders, inboxTemplates, type Module, reportFacts } from '@tradepost/module';
import { openPricePipeline, type PricePipeline, priceSteps } from '@tradepost/pricing';
import { fileReferences } from '@tradepost/storage';
import { orderAudits } from './audits/order-audits.ts';
import { cartActivities } from './cart/cart-activities.ts';
import { cartRoutes } from './cart/cart-routes.ts';
import { exportRoutes } from './csv/export-routes.ts';
import { forgetShoppersReader } from './csv/forget-shoppers.ts';
import { pendingShip } from './dashboard-cards.ts';
import { orderFiles } from './file-references.ts';
import { orderInboxTemplates } from './inbox-templates.ts';
import { orderMenu } from './menu.ts';
import { batchRoutes } from './merchant-tools/batch-routes.ts';
import { extensionRoutes } from './merchant-tools/extension-routes.ts';
import { remindPayNotice, remindTask, sendReminder } from './merchant-tools/reminders/remind-orders.ts';
import { orderEvents } from './order-events.ts';
import { expireOrders, expireTask, openExpirySchedule } from './orders/expire-orders.ts';
import { foldOrderCounts } from './orders/order-counts-store.ts';
import { orderRoutes } from './orders/order-routes.ts';
import { orderFilters, orderItemSections, orderSections } from './orders/order-sections.ts';
import { writeInventoryStatus } from './orders/order-store.ts';
import { usualPaymentMethods } from './orders/payment-methods.ts';
import { autoCompleteOrders, autoCompleteTask } from './paid-orders/auto-complete-orders.ts';
import { openPaidOrders, paidOrdersService } from './paid-orders/cancel-paid-orders.ts';
import { paymentDoctorChecks, providerDoctorChecks } from './payments/doctor-checks.ts';
import { openReceivers, type Receivers } from './payments/payment-receiver.ts';
import { paymentRoutes } from './payments/payment-routes.ts';
import { checkPayment, checkTask } from './payments/provider-calls/check-payment.ts';
import { payPage } from './payments/provider-calls/pay-page.ts';
import {
  defaultMethod,
  openProviders,
  providerResources,
  redirectProviders,
} from './payments/providers/open-providers.ts';
import { ownProviders } from './payments/providers/own-providers.ts';
import { paymentProviders } from './payments/providers/provider.ts';
import { paymentSweepTask, refundPayment, refundTask, sweepPayments } from './payments/refund-payments.ts';
import { orderDemo } from './payments/seed-payment-key.ts';
import { openSubjectPayments } from './payments/subjects/open-subject-payments.ts';
import { paymentSubjects, subjectPaymentsService } from './payments/subjects/payment-subject.ts';
import { missedUsesReader, releaseMissedUses, releaseUsesTask } from './price-uses/release-missed-uses.ts';
import { orderRetention } from './retention.ts';
import { orderSettings, payProviderSetting } from './settings.ts';
import { orderPublishes, ordersInChangeLog, orderTables } from './tables.ts';

export const ordersModule: Module = {
  name: 'orders',
  needs: ['identity', 'catalog', 'inventory'],
  tables: orderTables,
  changeLog: ordersInChangeLog,
  publishes: orderPublishes,
  entries: [
    ...ownProviders.map(paymentProviders.add),
    orderStatusWriters.add(writeInventoryStatus),
    dashboardCards.add(pendingShip),
    reportFacts.add('orders'),
    shopperNotices.add(remindPayNotice),
    fileReferences.add(orderFiles),
    ...orderInboxTemplates.map(inboxTemplates.add),
  ],
  events: orderEvents,
  settings: orderSettings,
  menu: orderMenu,
  seedDemo: orderDemo,
  retention: orderRetention,
  doctorChecks: paymentDoctorChecks,
  declares(entries, known) {
    const providers = entries(paymentProviders);
    return {
      settings: [
        payProviderSetting(providers, known(paymentProviders)),
        ...providers.flatMap((provider) => provider.settings ?? []),
      ],
      audits: orderAudits(remoteProviderNames(entries(inventoryProviders))),
      doctorChecks: providerDoctorChecks(providers),
    };
  },
  open(context) {
    const { runtime } = context;
    const inventory = context.service(inventoryService);
    const messenger = context.service(messengerService);
    const providers = openProviders(runtime, context.entries(paymentProviders));
    let receivers: Receivers | undefined;
    /** The subjects of payments are known after all modules are open. */
    const received = () =>
      (receivers ??= openReceivers(runtime, inventory, providers, context.entries(paymentSubjects)));
    let opened: PricePipeline | undefined;
    /** The steps are known after all modules are open. */
    const pipeline = () => (opened ??= openPricePipeline(context.entries(priceSteps)));
    return {
      provides: [
        paidOrdersService.provide(openPaidOrders({ runtime, inventory, pipeline })),
        subjectPaymentsService.provide(openSubjectPayments(runtime, providers)),
      ],
      contributions: [
        eventReaders.add(forgetShoppersReader),
        eventReaders.add(missedUsesReader({ runtime, pipeline })),
      ],
      routes() {
        const sections = { orders: context.entries(orderSections), items: context.entries(orderItemSections) };
        const filters = context.entries(orderFilters);
        const served = redirectProviders(providers).flatMap((provider) => provider.methods);
        const methods = [...new Set([...usualPaymentMethods, ...served])];
        const answers = { sections, filters, methods, defaultMethod: () => defaultMethod(providers, runtime.settings) };
        return [
          ...cartRoutes(runtime, context.entries(cartActivities)),
          ...exportRoutes(runtime, filters),
          ...orderRoutes(runtime, inventory, pipeline(), answers, openExpirySchedule()),
          ...extensionRoutes({ runtime, messenger }, sections.orders),
          ...batchRoutes(runtime, inventory, pipeline()),
          ...paymentRoutes(runtime, inventory, providers, received()),
          ...redirectProviders(providers).flatMap((provider) => provider.routes?.(received().receive) ?? []),
        ];
      },
      resources: [payPage(runtime, providers), ...providerResources(providers, (name) => received().ofProvider(name))],
      tasks: {
        [remindTask]: (payload, { signal }) => sendReminder(runtime, messenger, payload, signal),
        async [expireTask](_payload, { log, signal, stopping = signal }) {
          const cancelled = await expireOrders(
            { runtime, inventory, pipeline: pipeline() },
            { log, signal: AbortSignal.any([signal, stopping]) },
          );
          if (cancelled > 0) log.info({ cancelled }, 'unpaid orders cancelled');
        },
        async [autoCompleteTask](_payload, { log, signal, stopping = signal }) {
          const completed = await autoCompleteOrders(runtime, { signal: AbortSignal.any([signal, stopping]) });
          if (completed > 0) log.info({ completed }, 'shipped orders completed');
        },
        [refundTask]: (payload, task) => refundPayment({ runtime, providers }, payload, task),
        [checkTask]: (payload, task) =>
          checkPayment({ runtime, providers, receiversOf: (name) => received().ofProvider(name) }, payload, task),
        [paymentSweepTask]: (_payload, task) => sweepPayments({ runtime }, task),
        [releaseUsesTask]: (payload, { log, signal, stopping = signal }) =>
          releaseMissedUses({ runtime, pipeline }, payload, { log, signal: AbortSignal.any([signal, stopping]) }),
        async 'orders.fold_counts'() {
          await foldOrderCounts(runtime.sql);
        },
      },
      // These crons repeat the work of jobs that were lost: expiry of orders, refunds, counts, and uses of cancelled orders.
      crons: [
        { task: expireTask, match: '*/5 * * * *' },
        { task: paymentSweepTask, match: '*/5 * * * *' },
        { task: autoCompleteTask, match: '20 * * * *' },
        { task: 'orders.fold_counts', match: '* * * * *' },
        { task: releaseUsesTask, match: '50 3 * * 0' },
      ],
      async close() {
        await Promise.all(redirectProviders(providers).map((provider) => provider.stop?.()));
      },
    };
  },
};
