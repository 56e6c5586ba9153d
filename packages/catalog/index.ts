import type { Module } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { refreshSales } from './products/product-list-store.ts';
import { catalogRoutes } from './routes.ts';
import { ownStock, type StockKeeper } from './stock-ownership/stock-owner.ts';

export { catalogAudits } from './catalog-audits.ts';
export type { CsvFault } from './csv/csv-faults.ts';
export { exportProducts } from './csv/export-products.ts';
export { importProducts } from './csv/import-products.ts';
export { catalogErrors } from './errors.ts';
export { attrsIn, productCard, skuView, textsIn, type ViewContext } from './products/product.ts';
export { type SkuForSale, selectSkusForSale, selectSkusWithProducts } from './products/product-store.ts';
export type { Attribute } from './products/sku-matrix.ts';
export { productCardView, skuViewSchema } from './schemas.ts';
export { type CatalogueFile, catalogueIsEmpty, seedCatalogue } from './seed-catalogue.ts';
export { catalogSettings } from './settings.ts';
export { ownStock, type StockKeeper } from './stock-ownership/stock-owner.ts';
export { selectFavorited } from './storefront/favorite-store.ts';

const salesTask = 'catalog.refresh_sales';

export function catalogModule(runtime: Runtime, keeper: StockKeeper = ownStock): Module {
  return {
    name: 'catalog',
    routes: catalogRoutes(runtime, keeper),
    tasks: {
      async [salesTask](_payload, { log }) {
        const moved = await refreshSales(runtime.sql);
        if (moved > 0) log.debug({ moved }, 'best sellers refreshed');
      },
    },
    crons: [{ task: salesTask, match: '* * * * *' }],
  };
}
