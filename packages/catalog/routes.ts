import type { Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { categoryRoutes } from './categories/category-routes.ts';
import { batchRoutes } from './products/batch-routes.ts';
import { productRoutes } from './products/product-routes.ts';
import type { ProductSection } from './products/product-sections.ts';
import { specTemplateRoutes } from './spec-templates/spec-template-routes.ts';
import type { StockOwner } from './stock-ownership/stock-owner.ts';
import { storefrontRoutes } from './storefront/storefront-routes.ts';

export function catalogRoutes(runtime: Runtime, stockOwner: StockOwner, sections: readonly ProductSection[]): Route[] {
  return [
    ...storefrontRoutes(runtime, stockOwner, sections),
    ...productRoutes(runtime, stockOwner),
    ...batchRoutes(),
    ...categoryRoutes(runtime),
    ...specTemplateRoutes(runtime),
  ];
}
