import { type Locale, paged, pagingOf } from '@tradepost/core';
import { defineRoute, fileUrls, largeBody, list, pagedOf, pageQueryWith, type Route } from '@tradepost/http';
import { createConcurrencyLimit, type Runtime, timeZone } from '@tradepost/runtime';
import { readComponents } from '../components/read-components.ts';
import { contentErrors } from '../errors.ts';
import { maxVariants, variantLists } from '../limits.ts';
import { saveDraft } from './change-variants.ts';
import {
  draftBody,
  draftSchema,
  pageParams,
  publicationParams,
  publicationSchema,
  variantQuery,
  variantSchema,
} from './decor-schemas.ts';
import { selectDraft, selectVariants } from './decor-store.ts';
import { draftView, publicationView, unsavedVariant, type ViewContext, variantView } from './decor-view.ts';
import type { PageCache } from './page-cache.ts';
import { selectPublications } from './publication-store.ts';
import { publish, rollBack } from './publish-variants.ts';
import { defaultVariant } from './variant-key.ts';

export const tag = 'Decoration (admin)';

type Asked = { request: Request; locale: Locale };
export const viewContextOf =
  ({ config, settings }: Pick<Runtime, 'config' | 'settings'>) =>
  ({ request, locale }: Asked): ViewContext => ({
    zone: settings.get(timeZone),
    locale,
    filePrefix: fileUrls(request, config).absolute('/uploads/'),
  });

const pageReads = (runtime: Runtime): Route[] => {
  const { sql } = runtime;
  const viewOf = viewContextOf(runtime);
  const common = { method: 'GET', auth: 'staff', permission: 'decor:view', tag } as const;
  return [
    defineRoute({
      ...common,
      path: '/admin/api/decor/:page_key/variants',
      summary: 'The variants of a page with their drafts: the published one first, then the ones changed last',
      params: pageParams,
      response: list(draftSchema, maxVariants),
      statements: 1,
      slots: createConcurrencyLimit(variantLists),
      async handle({ params, ...asked }) {
        const saved = await selectVariants(sql, params.page_key);
        const rows = saved.length > 0 ? saved : [unsavedVariant(params.page_key, defaultVariant)];
        const context = viewOf(asked);
        return rows.map((row) => draftView(row, context));
      },
    }),
    defineRoute({
      ...common,
      path: '/admin/api/decor/:page_key',
      summary:
        'The draft of a variant, by default of the variant `default`; an empty one with id 0 when nothing is saved',
      params: pageParams,
      query: variantQuery,
      response: draftSchema,
      statements: 1,
      async handle({ params, query, ...asked }) {
        const variantKey = query.variant ?? defaultVariant;
        const row = await selectDraft(sql, params.page_key, variantKey);
        return draftView(row ?? unsavedVariant(params.page_key, variantKey), viewOf(asked));
      },
    }),
    defineRoute({
      ...common,
      path: '/admin/api/decor/:page_key/publications',
      summary: 'What was published of a page, newest first',
      params: pageParams,
      query: pageQueryWith({}),
      response: pagedOf(publicationSchema),
      statements: 1,
      async handle({ params, query, ...asked }) {
        const paging = pagingOf(query);
        const { rows, total } = await selectPublications(sql, params.page_key, paging);
        const context = viewOf(asked);
        return paged(
          rows.map((row) => publicationView(row, context)),
          total,
          paging,
        );
      },
    }),
  ];
};

const pageWrites = (runtime: Runtime, cache: PageCache): Route[] => {
  const viewOf = viewContextOf(runtime);
  const common = { auth: 'staff', permission: 'decor:edit', tag, repeat: 'recorded', response: variantSchema } as const;
  return [
    defineRoute({
      ...common,
      method: 'PUT',
      path: '/admin/api/decor/:page_key',
      bodyLimit: largeBody,
      summary: 'Save the draft of a variant, which is made when it does not exist. A published page stays as it is',
      params: pageParams,
      query: variantQuery,
      body: draftBody,
      refuses: [
        contentErrors.components_form,
        contentErrors.components_json,
        contentErrors.components_size,
        contentErrors.rich_text_size,
        contentErrors.too_deep,
        contentErrors.unstorable,
        contentErrors.address,
        contentErrors.too_many_pages,
        contentErrors.too_many_variants,
      ],
      statements: 6,
      async handle({ params: { page_key: pageKey }, query, body, write, ...asked }) {
        const { relative } = fileUrls(asked.request, runtime.config);
        const components = readComponents(pageKey, body.components, { locale: asked.locale, relative });
        const of = { pageKey, variantKey: query.variant ?? defaultVariant, components };
        const row = await write((tx) => saveDraft(tx, of, runtime.now()));
        await cache.changed(pageKey);
        return variantView(row, viewOf(asked));
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/admin/api/decor/:page_key/publish',
      summary: 'Publish the draft of a variant. All other variants of the page are no longer published',
      params: pageParams,
      query: variantQuery,
      refuses: [contentErrors.too_many_pages, contentErrors.too_many_variants],
      statements: 9,
      async handle({ params: { page_key: pageKey }, query, caller, write, ...asked }) {
        const of = { pageKey, variantKey: query.variant ?? defaultVariant };
        const row = await write((tx) => publish(tx, of, { by: caller.id, now: runtime.now() }));
        await cache.changed(pageKey);
        return variantView(row, viewOf(asked));
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/admin/api/decor/:page_key/publications/:id/rollback',
      summary: 'Publish the content of an earlier publication again. The draft of its variant stays',
      params: publicationParams,
      refuses: [contentErrors.publication_not_found, contentErrors.too_many_variants],
      statements: 8,
      async handle({ params: { page_key: pageKey, id }, caller, write, ...asked }) {
        const act = { by: caller.id, now: runtime.now() };
        const row = await write((tx) => rollBack(tx, { pageKey, publicationId: id }, act));
        await cache.changed(pageKey);
        return variantView(row, viewOf(asked));
      },
    }),
  ];
};

export const adminDecorRoutes = (runtime: Runtime, cache: PageCache): Route[] => [
  ...pageReads(runtime),
  ...pageWrites(runtime, cache),
];
