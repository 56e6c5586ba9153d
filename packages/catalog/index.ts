import type { Module } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { refreshSales } from './product-list-store.ts';
import { catalogRoutes } from './routes.ts';
import { ownStock, type StockKeeper } from './stock-keeper.ts';

export { catalogAudits } from './catalog-audits.ts';
export type { CsvFault } from './csv-faults.ts';
export { catalogErrors } from './errors.ts';
export { exportProducts } from './export-products.ts';
export { selectFavorited } from './favorite-store.ts';
export { importProducts } from './import-products.ts';
export { attrsIn, productCard, skuView, textsIn, type ViewContext } from './product.ts';
export { type SkuForSale, selectSkusForSale, selectSkusWithProducts } from './product-store.ts';
export { productCardView, skuViewSchema } from './schemas.ts';
export { type CatalogueFile, catalogueIsEmpty, seedCatalogue } from './seed-catalogue.ts';
export { catalogSettings } from './settings.ts';
export type { Attribute } from './sku-matrix.ts';
export { ownStock, type StockKeeper } from './stock-keeper.ts';

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
