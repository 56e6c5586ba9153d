export { exportProducts } from './csv/export-products.ts';
export { importProducts } from './csv/import-products.ts';
export { catalogErrors } from './errors.ts';
export { catalogModule } from './module.ts';
export { attrsIn, productCard, skuView, textsIn, type ViewContext } from './products/product.ts';
export { type ProductSection, productSections } from './products/product-sections.ts';
export {
  type SkuForSale,
  selectProductNames,
  selectSkusForSale,
  selectSkusWithProducts,
} from './products/product-store.ts';
export type { Attribute } from './products/sku-matrix.ts';
export { productCardView, skuViewSchema } from './schemas.ts';
export { ownStock, type StockOwner, stockOwnerOpeners, stockOwners } from './stock-ownership/stock-owner.ts';
export { selectFavorited } from './storefront/favorite-store.ts';
