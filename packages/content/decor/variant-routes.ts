import { defineRoute, nothing, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { contentErrors } from '../errors.ts';
import { tag, viewContextOf } from './admin-routes.ts';
import { copyVariant, removeVariant, rename } from './change-variants.ts';
import { copyBody, pageParams, renameBody, variantParams, variantSchema } from './decor-schemas.ts';
import { variantView } from './decor-view.ts';
import type { PageCache } from './page-cache.ts';

export const variantRoutes = (runtime: Runtime, cache: PageCache): Route[] => {
  const viewOf = viewContextOf(runtime);
  const common = { auth: 'staff', permission: 'decor:edit', tag, repeat: 'recorded' } as const;
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/admin/api/decor/:page_key/copies',
      summary: 'Copy the draft of a variant to a new variant',
      params: pageParams,
      body: copyBody,
      response: variantSchema,
      refuses: [
        contentErrors.copy_to_itself,
        contentErrors.variant_not_found,
        contentErrors.variant_exists,
        contentErrors.too_many_pages,
        contentErrors.too_many_variants,
      ],
      statements: 8,
      async handle({ params: { page_key: pageKey }, body, write, ...asked }) {
        const copy = { pageKey, from: body.from_variant_key, to: body.new_variant_key, name: body.new_variant_name };
        const row = await write((tx) => copyVariant(tx, copy, runtime.now()));
        await cache.changed(pageKey);
        return variantView(row, viewOf(asked));
      },
    }),
    defineRoute({
      ...common,
      method: 'PUT',
      path: '/admin/api/decor/:page_key/variants/:variant_key',
      summary: 'Rename a variant',
      params: variantParams,
      body: renameBody,
      response: variantSchema,
      refuses: [contentErrors.variant_not_found, contentErrors.too_many_pages, contentErrors.too_many_variants],
      statements: 7,
      async handle({ params: { page_key: pageKey, variant_key: variantKey }, body, write, ...asked }) {
        const of = { pageKey, variantKey, name: body.variant_name };
        const row = await write((tx) => rename(tx, of, runtime.now()));
        await cache.changed(pageKey);
        return variantView(row, viewOf(asked));
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/admin/api/decor/:page_key/variants/:variant_key',
      summary: 'Delete a variant that is neither the default nor the published one',
      params: variantParams,
      response: nothing,
      refuses: [contentErrors.default_variant, contentErrors.variant_not_found, contentErrors.published_variant],
      statements: 4,
      async handle({ params: { page_key: pageKey, variant_key: variantKey }, write }) {
        await write((tx) => removeVariant(tx, { pageKey, variantKey }));
        await cache.changed(pageKey);
        return null;
      },
    }),
  ];
};
