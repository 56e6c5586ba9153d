import type { Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { batchRoutes } from './batch-routes.ts';
import { categoryRoutes } from './category-routes.ts';
import { productRoutes } from './product-routes.ts';
import { specTemplateRoutes } from './spec-template-routes.ts';
import type { StockKeeper } from './stock-keeper.ts';
import { storefrontRoutes } from './storefront-routes.ts';

export function catalogRoutes(runtime: Runtime, keeper: StockKeeper): Route[] {
  return [
    ...storefrontRoutes(runtime, keeper),
    ...productRoutes(runtime, keeper),
    ...batchRoutes(),
    ...categoryRoutes(runtime),
    ...specTemplateRoutes(runtime),
  ];
}
