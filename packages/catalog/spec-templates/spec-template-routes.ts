import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, largeBody, nothing, pagedOf, type Route } from '@tradepost/http';
import { actingSql } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { catalogErrors } from '../errors.ts';
import { maxTemplatePage } from '../limits.ts';
import type { ViewContext } from '../products/product.ts';
import { viewsOf } from '../views.ts';
import {
  specTemplateCreateBody,
  specTemplateQuery,
  specTemplateUpdateBody,
  specTemplateView,
} from './spec-template-schemas.ts';
import {
  deleteSpecTemplate,
  insertSpecTemplate,
  type SpecTemplate,
  selectSpecTemplate,
  selectSpecTemplates,
  updateSpecTemplate,
} from './spec-template-store.ts';

const tag = 'Spec templates (admin)';
const refuses = [catalogErrors.spec_template_not_found];
const viewOf = (
  { id, name, category_ids, attrs, status, created_at, updated_at }: SpecTemplate,
  view: ViewContext,
) => ({
  ...{ id, name, category_ids, attrs, status },
  created_at: view.iso(created_at),
  updated_at: view.iso(updated_at),
});

/** Prepared specifications for the product form. They are copied into products, and products do not refer to them. */
export function specTemplateRoutes(runtime: Runtime): Route[] {
  const { sql } = runtime;
  const viewFor = viewsOf(runtime);

  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/spec-templates',
      auth: 'staff',
      permission: 'product:view',
      tag,
      summary: 'Spec templates, newest first',
      query: specTemplateQuery,
      response: pagedOf(specTemplateView, maxTemplatePage),
      statements: 1,
      async handle({ query, request, locale }) {
        const paging = pagingOf(query, { cap: maxTemplatePage });
        const filter = { ...query, category_id: query.category_id || undefined };
        const { rows, total } = await selectSpecTemplates(sql, filter, paging);
        const view = viewFor(request, locale);
        return paged(
          rows.map((row) => viewOf(row, view)),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/spec-templates/:id',
      auth: 'staff',
      permission: 'product:view',
      tag,
      summary: 'A spec template',
      params: idParams,
      response: specTemplateView,
      refuses,
      statements: 1,
      async handle({ params, request, locale }) {
        const template = await selectSpecTemplate(sql, params.id);
        if (!template) throw catalogErrors.spec_template_not_found();
        return viewOf(template, viewFor(request, locale));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/spec-templates',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'product:edit',
      tag,
      summary: 'Create a spec template',
      body: specTemplateCreateBody,
      response: specTemplateView,
      statements: 1,
      async handle({ body, request, locale, actor }) {
        const { name, category_ids = [], attrs = [], status = 1 } = body;
        const fields = { name, category_ids, attrs, status };
        const row = await actingSql(sql, actor).begin((tx) => insertSpecTemplate(tx, fields));
        return viewOf(row, viewFor(request, locale));
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/admin/api/spec-templates/:id',
      bodyLimit: largeBody,
      auth: 'staff',
      permission: 'product:edit',
      tag,
      summary: 'Change a spec template; absent fields stay unchanged',
      params: idParams,
      body: specTemplateUpdateBody,
      response: nothing,
      refuses,
      statements: 1,
      repeat: 'recorded',
      handle: ({ params, body, write }) =>
        write(async (tx) => {
          if (!(await updateSpecTemplate(tx, params.id, body))) throw catalogErrors.spec_template_not_found();
          return null;
        }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/admin/api/spec-templates/:id',
      auth: 'staff',
      permission: 'product:delete',
      tag,
      summary: 'Delete a spec template; products made with it keep their specifications',
      params: idParams,
      response: nothing,
      refuses,
      statements: 1,
      repeat: 'recorded',
      handle: ({ params, write }) =>
        write(async (tx) => {
          if (!(await deleteSpecTemplate(tx, params.id))) throw catalogErrors.spec_template_not_found();
          return null;
        }),
    }),
  ];
}
