import type { Locale } from '@tradepost/core';
import { defineRoute, fileUrls, PreparedAnswer, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { openDrafts } from '../settings.ts';
import { listPageView, pageParams, pcPageView, shopPage, variantQuery } from './decor-schemas.ts';
import { selectLive, selectShown } from './decor-store.ts';
import { shopPageView, unsavedVariant } from './decor-view.ts';
import type { PageCache } from './page-cache.ts';
import { defaultVariant } from './variant-key.ts';

const tag = 'Decoration';

type Asked = { pageKey: string; variantKey: string | null; request: Request; locale: Locale };

/** These are asked for by every visitor, also while nothing is saved. */
const homePages: readonly string[] = ['index', 'pc'];

/** Answers pages from the cache. A page that the shop does not have is not kept, because anyone can ask for any key. */
const openPages =
  ({ sql, settings, config }: Runtime, cache: PageCache) =>
  ({ pageKey, variantKey, request, locale }: Asked) => {
    const zone = settings.get(timeZone);
    const drafts = settings.get(openDrafts);
    const filePrefix = fileUrls(request, config).absolute('/uploads/');
    const key = `${variantKey ?? ''}\n${locale}\n${zone}\n${filePrefix}\n${drafts}`;
    return cache.get(pageKey, key, async () => {
      const row =
        variantKey === null
          ? await selectLive(sql, { pageKey, drafts })
          : await selectShown(sql, { pageKey, variantKey, drafts });
      const page = row ?? unsavedVariant(pageKey, variantKey ?? defaultVariant);
      const view = shopPageView(page, { zone, locale, filePrefix });
      const isHome = variantKey === null && homePages.includes(pageKey);
      return { answer: new PreparedAnswer(view as never), keep: row !== null || isHome };
    });
  };

export const storefrontDecorRoutes = (runtime: Runtime, cache: PageCache): Route[] => {
  const page = openPages(runtime, cache);
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/index/decor',
      auth: 'public',
      tag,
      summary: 'The published mobile home page',
      response: listPageView,
      etag: true,
      statements: 1,
      handle: ({ request, locale }) => page({ pageKey: 'index', variantKey: null, request, locale }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/decor/pc',
      auth: 'public',
      tag,
      summary: 'The published PC home page, or a variant of it',
      query: variantQuery,
      response: pcPageView,
      etag: true,
      statements: 1,
      handle: ({ query, request, locale }) =>
        page({ pageKey: 'pc', variantKey: query.variant ?? null, request, locale }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/decor/:page_key',
      auth: 'public',
      tag,
      summary: 'The published variant of a page, or a variant of it; without saved content an empty page with id 0',
      params: pageParams,
      query: variantQuery,
      response: shopPage,
      etag: true,
      statements: 1,
      handle: ({ params, query, request, locale }) =>
        page({ pageKey: params.page_key, variantKey: query.variant ?? null, request, locale }),
    }),
  ];
};
