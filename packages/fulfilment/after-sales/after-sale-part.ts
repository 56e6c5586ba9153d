import { shopperNotices } from '@tradepost/identity';
import { inventoryService } from '@tradepost/inventory';
import { dashboardCards, inboxTemplates, type MenuEntry } from '@tradepost/module';
import { orderFilters, orderSections, shippingHolds } from '@tradepost/orders';
import { addressesIn, fileReferences } from '@tradepost/storage';
import { caseInboxTemplates } from '../inbox-templates.ts';
import type { Part } from '../part.ts';
import { afterSaleAudits } from './after-sale-audits.ts';
import { afterSaleSection } from './after-sale-section.ts';
import { caseEvents } from './cases/case-events.ts';
import { countOpenCases, ordersWithCase, shownImages } from './cases/case-store.ts';
import { afterSaleNotices } from './notices.ts';
import { afterSaleSettings } from './settings.ts';
import { shopperCaseRoutes } from './shopper-routes.ts';
import { staffCaseRoutes } from './staff-routes.ts';
import { afterSalesInChangeLog, afterSaleTables } from './tables.ts';

/** A page of the menu that the package orders declares. */
const menu: readonly MenuEntry[] = [
  {
    path: '/order',
    pages: [
      {
        path: '/order/after-sale/list',
        needs: 'GET /after-sales',
        sort: 20,
        title: { en: 'After-Sale', 'zh-CN': '售后列表', key: 'menu.order.afterSale' },
      },
    ],
  },
];

/** Returns and exchanges: cases with their log, messages and evidences. */
export const afterSalePart: Part = {
  tables: afterSaleTables,
  changeLog: afterSalesInChangeLog,
  settings: afterSaleSettings,
  audits: afterSaleAudits,
  menu,
  events: caseEvents,
  entries: [
    fileReferences.add({
      name: 'fulfilment.after_sales',
      referenced: (sql, addresses) => addressesIn(sql, addresses, shownImages(sql)),
    }),
    ...afterSaleNotices.map(shopperNotices.add),
    ...caseInboxTemplates.map(inboxTemplates.add),
    dashboardCards.add({ field: 'pending_refunds', permission: 'order:view', count: countOpenCases }),
  ],
  open(context) {
    const { runtime } = context;
    const inventory = context.service(inventoryService);
    return {
      contributions: [
        orderSections.add(afterSaleSection(runtime)),
        orderFilters.add({ field: 'has_after_sale', matching: ordersWithCase }),
      ],
      routes: () => [
        ...shopperCaseRoutes(runtime, context.entries(shippingHolds)),
        ...staffCaseRoutes({ runtime, inventory }),
      ],
    };
  },
};
