import { defineRoute, fileUrls, idParams, list, nothing, pageQueryWith, type Route } from '@tradepost/http';
import { actingSql } from '@tradepost/postgres';
import { type Runtime, shopLocale } from '@tradepost/runtime';
import { catalogErrors } from '../errors.ts';
import { maxCategories } from '../limits.ts';
import { categoryTexts, formTexts } from '../shop-texts.ts';
import { categoryView, viewsOf } from '../views.ts';
import {
  adminCategoryView,
  categoryCreateBody,
  categoryView as categorySchema,
  categoryTreeView,
  categoryUpdateBody,
} from './category-schemas.ts';
import { type CategoryNode, type CategoryTranslations, selectCategories } from './category-store.ts';
import { createCategory, deleteCategory, editCategory } from './save-category.ts';

const tag = 'Categories (admin)';

export function categoryRoutes(runtime: Runtime): Route[] {
  const { sql, config, settings } = runtime;
  const viewFor = viewsOf(runtime);
  /** The name in the shop's language, and the names in the other languages. A form sends both back. */
  const textsOf = ({ name, translations }: Pick<CategoryNode, 'name' | 'translations'>) => {
    const form = formTexts({ base: { name }, translations }, settings.get(shopLocale), categoryTexts);
    return { name: form.base.name as string, translations: form.translations as CategoryTranslations };
  };

  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/categories',
      auth: 'staff',
      permission: 'product:view',
      tag,
      summary: 'All categories, flat; `page` and `size` are not needed',
      description:
        'Names are those of the shop’s language, as this is what a form sends back; `translations` has the others.',
      query: pageQueryWith({}),
      response: list(adminCategoryView, maxCategories),
      statements: 1,
      async handle({ request, locale }) {
        const view = viewFor(request, locale);
        return (await selectCategories(sql)).map((row) => ({
          ...categoryView(row, view),
          ...textsOf(row),
          product_count: row.product_count,
        }));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/categories/tree',
      auth: 'staff',
      permission: 'product:view',
      tag,
      summary: 'All categories, nested in three levels',
      response: categoryTreeView,
      statements: 1,
      async handle({ request, locale }) {
        const view = viewFor(request, locale);
        const rows = await selectCategories(sql);
        const below = new Map<number, typeof rows>();
        for (const row of rows) {
          const siblings = below.get(row.parent_id);
          if (siblings) siblings.push(row);
          else below.set(row.parent_id, [row]);
        }
        const level = <C>(parentId: number, childrenOf: (id: number) => C[]) =>
          (below.get(parentId) ?? []).map(({ id, parent_id, icon, sort, status, product_count, ...texts }) => ({
            ...{ id, parent_id, name: textsOf(texts).name, icon: view.fileUrl(icon), sort, status, product_count },
            children: childrenOf(id),
          }));
        return level(0, (root) => level(root, (middle) => level(middle, (): never[] => [])));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/categories',
      auth: 'staff',
      permission: 'product:create',
      tag,
      summary: 'Create a category',
      body: categoryCreateBody,
      response: categorySchema,
      refuses: [catalogErrors.too_many_categories, catalogErrors.no_such_category, catalogErrors.category_too_deep],
      statements: 3,
      async handle({ body, request, locale, actor }) {
        const { name, parent_id = 0, icon = '', sort = 0, status = 1, translations = {} } = body;
        const path = fileUrls(request, config).relative(icon);
        const row = await createCategory(actingSql(sql, actor), {
          name,
          parent_id,
          icon: path,
          sort,
          status,
          translations,
        });
        return { ...categoryView(row, viewFor(request, locale)), name: textsOf(row).name };
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/categories/:id',
      auth: 'staff',
      permission: 'product:edit',
      tag,
      summary: 'Change a category; absent fields stay unchanged, and a moved category keeps those below it',
      description:
        '`name` is the name in the shop’s language. `translations` replaces the names in all other languages.',
      params: idParams,
      body: categoryUpdateBody,
      response: nothing,
      refuses: [
        catalogErrors.category_not_there,
        catalogErrors.no_such_category,
        catalogErrors.category_in_itself,
        catalogErrors.category_too_deep,
      ],
      statements: 3,
      repeat: 'recorded',
      async handle({ params, body, request, write }) {
        const { relative } = fileUrls(request, config);
        const fields = { ...body, ...(body.icon ? { icon: relative(body.icon) } : {}) };
        await write((tx) => editCategory(tx, params.id, fields, settings.get(shopLocale)));
        return null;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/admin/api/categories/:id',
      auth: 'staff',
      permission: 'product:delete',
      tag,
      summary: 'Delete an empty category',
      params: idParams,
      response: nothing,
      refuses: [
        catalogErrors.category_not_there,
        catalogErrors.category_has_children,
        catalogErrors.category_has_products,
      ],
      statements: 5,
      repeat: 'recorded',
      async handle({ params, write }) {
        await write((tx) => deleteCategory(tx, params.id));
        return null;
      },
    }),
  ];
}
