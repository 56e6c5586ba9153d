import { productSections } from '@tradepost/catalog';
import type { Module } from '@tradepost/module';
import { orderItemSections } from '@tradepost/orders';
import { fileReferences } from '@tradepost/storage';
import { adminReviewRoutes } from './back-office/admin-review-routes.ts';
import { reviewFiles } from './file-references.ts';
import { reviewMenu } from './menu.ts';
import { reviewOfItem } from './orders/item-section.ts';
import { orderReviewRoutes } from './orders/order-review-routes.ts';
import { productReviewRoutes } from './products/product-review-routes.ts';
import { summarySection } from './products/summary-section.ts';
import { reviewAudits } from './review-audits.ts';
import { reviewCreated } from './review-events.ts';
import { reviewPublishes, reviewsInChangeLog, reviewTables } from './tables.ts';

export const reviewsModule: Module = {
  name: 'reviews',
  needs: ['identity', 'catalog', 'orders'],
  tables: reviewTables,
  changeLog: reviewsInChangeLog,
  publishes: reviewPublishes,
  entries: [fileReferences.add(reviewFiles)],
  menu: reviewMenu,
  audits: reviewAudits,
  events: [reviewCreated],
  open: ({ runtime }) => ({
    contributions: [productSections.add(summarySection), orderItemSections.add(reviewOfItem(runtime))],
    routes: () => [...productReviewRoutes(runtime), ...orderReviewRoutes(runtime), ...adminReviewRoutes(runtime)],
  }),
};
