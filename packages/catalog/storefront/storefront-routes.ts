import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, list, nothing, pagedOf, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { categoryView as categorySchema } from '../categories/category-schemas.ts';
import { selectVisibleCategories } from '../categories/category-store.ts';
import { catalogErrors } from '../errors.ts';
import { maxCategories, maxFavorites } from '../limits.ts';
import { productCard, skuView } from '../products/product.ts';
import { selectBestSellers, selectFavorites, selectShelf } from '../products/product-list-store.ts';
import { additionsOf, type ProductSection } from '../products/product-sections.ts';
import { selectProduct } from '../products/product-store.ts';
import { productCardView, productDetailView, storefrontQuery } from '../schemas.ts';
import type { StockOwner } from '../stock-ownership/stock-owner.ts';
import { categoryView, recommendedView as recommended, viewsOf } from '../views.ts';
import { addFavorites, type Favorite, removeFavorites, selectFavorited } from './favorite-store.ts';
import { favoriteView, pageQuery, recommendedView, recommendPage, recommendQuery } from './storefront-schemas.ts';

/** Routes for shoppers: catalogue and favourites. */
export function storefrontRoutes(
  runtime: Runtime,
  stockOwner: StockOwner,
  sections: readonly ProductSection[],
): Route[] {
  const { sql } = runtime;
  const viewFor = viewsOf(runtime);
  const additions = additionsOf(sections);
  const like = runtime.groupCommit('favorite_add', async (favorites: readonly Favorite[]) => {
    const outcomes = await addFavorites(sql, favorites);
    return outcomes.map((outcome) => {
      if (outcome === 'too_many') return catalogErrors.too_many_favorites({ max: maxFavorites });
      return outcome === 'there' || catalogErrors.product_not_found();
    });
  });
  const unlike = runtime.groupCommit('favorite_remove', async (favorites: readonly Favorite[]) => {
    await removeFavorites(sql, favorites);
    return favorites.map(() => true);
  });

  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/categories',
      auth: 'public',
      tag: 'Catalogue',
      summary: 'Visible categories, flat, in menu order',
      response: list(categorySchema, maxCategories),
      statements: 1,
      async handle({ request, locale }) {
        const view = viewFor(request, locale);
        return (await selectVisibleCategories(sql)).map((category) => ({
          ...categoryView(category, view),
          name: category.translations[locale]?.name || category.name,
        }));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/products',
      auth: 'optional',
      tag: 'Catalogue',
      summary: 'Products on the shelf by sort, then newest first; with a keyword the best hits first',
      query: storefrontQuery,
      response: pagedOf(productCardView),
      statements: 2,
      async handle({ query, request, locale, caller }) {
        const paging = pagingOf(query);
        const filter = { keyword: query.keyword?.trim() || undefined, category_id: query.category_id || undefined };
        const { rows, total } = await selectShelf(sql, filter, paging, locale);
        const ids = rows.map((row) => row.id);
        const favorited = caller ? await selectFavorited(sql, caller.id, ids) : undefined;
        const view = viewFor(request, locale);
        return paged(
          rows.map((row) => productCard(row, view, favorited)),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/products/recommend',
      auth: 'public',
      tag: 'Catalogue',
      summary: 'Best sellers on the shelf',
      query: recommendQuery,
      response: list(recommendedView, recommendPage),
      statements: 1,
      async handle({ query, request, locale }) {
        // A value out of range means the default, as for page sizes.
        const limit = query.limit !== undefined && query.limit >= 1 && query.limit <= recommendPage ? query.limit : 8;
        const view = viewFor(request, locale);
        return (await selectBestSellers(sql, limit, locale)).map((row) => recommended(row, view));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/products/:id',
      auth: 'optional',
      tag: 'Catalogue',
      summary: 'A product with its SKUs and pictures',
      params: idParams,
      response: productDetailView,
      refuses: [catalogErrors.product_not_found],
      statements: 2,
      async handle({ params, request, locale, caller }) {
        const product = await selectProduct(sql, params.id, additions);
        if (product?.status !== 1) throw catalogErrors.product_not_found();
        const active = product.skus.filter((sku) => sku.status === 'active');
        const [favorited, elsewhere] = await Promise.all([
          caller ? selectFavorited(sql, caller.id, [product.id]) : undefined,
          active.length > 0 ? stockOwner.sellable?.(active.map((sku) => sku.id)) : undefined,
        ]);
        const view = viewFor(request, locale);
        const skus = active.map((sku) => skuView(sku, product.translations, locale, elsewhere?.get(sku.id)));
        return {
          ...productCard(product, view, favorited),
          stock: skus.reduce((sum, sku) => sum + sku.stock, 0),
          skus,
          images: product.images.map((image) => ({ ...image, url: view.fileUrl(image.url) })),
          ...product.additions,
        };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/products/:id/favorite',
      auth: 'shopper',
      tag: 'Favourites',
      summary: 'Add a favourite; a repeat changes nothing',
      params: idParams,
      response: nothing,
      refuses: [catalogErrors.product_not_found, catalogErrors.too_many_favorites],
      repeat: 'natural',
      statements: 1,
      async handle({ params, caller }) {
        await like({ user_id: caller.id, product_id: params.id });
        return null;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/products/:id/favorite',
      auth: 'shopper',
      tag: 'Favourites',
      summary: 'Remove a favourite, also of a deleted product',
      params: idParams,
      response: nothing,
      repeat: 'natural',
      statements: 1,
      async handle({ params, caller }) {
        await unlike({ user_id: caller.id, product_id: params.id });
        return null;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/user/favorites',
      auth: 'shopper',
      tag: 'Favourites',
      summary: 'My favourites, newest first; `status` 0 means off the shelf',
      query: pageQuery,
      response: pagedOf(favoriteView),
      statements: 1,
      async handle({ query, caller, request, locale }) {
        const paging = pagingOf(query);
        const { rows, total } = await selectFavorites(sql, caller.id, paging, locale);
        const view = viewFor(request, locale);
        const all = new Set(rows.map((row) => row.id));
        return paged(
          rows.map((row) => ({ ...productCard(row, view, all), favorited_at: view.iso(row.favorited_at) })),
          total,
          paging,
        );
      },
    }),
  ];
}
