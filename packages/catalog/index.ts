import type { Module } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { catalogRoutes } from './routes.ts';

export { catalogErrors } from './errors.ts';
export { attrsIn, productCard, skuView, textsIn, type ViewContext } from './product.ts';
export { type SkuForSale, selectSkusForSale, selectSkusWithProducts } from './product-store.ts';
export { productCardView, skuViewSchema } from './schemas.ts';
export { type CatalogueFile, catalogueIsEmpty, seedCatalogue } from './seed-catalogue.ts';
export { catalogSettings } from './settings.ts';
export type { Attribute } from './sku-matrix.ts';

export function catalogModule(runtime: Runtime): Module {
  return { name: 'catalog', routes: catalogRoutes(runtime) };
}
