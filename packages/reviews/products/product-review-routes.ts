import { catalogErrors, selectProductNames } from '@tradepost/catalog';
import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, fileUrls, idParams, pageQueryWith, type Route } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { maxReviewPage } from '../limits.ts';
import { publicReviewView } from '../review.ts';
import { productReviewsSchema } from '../schemas.ts';
import { selectProductReviews } from './product-review-store.ts';

export const productReviewRoutes = ({ sql, settings, config }: Runtime): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/v1/products/:id/reviews',
    auth: 'public',
    tag: 'Catalogue',
    summary: 'Reviews of a product, newest first, with their averages',
    params: idParams,
    query: pageQueryWith({}),
    response: productReviewsSchema,
    refuses: [catalogErrors.product_not_found],
    statements: 2,
    async handle({ params, query, request }) {
      const paging = pagingOf(query, { cap: maxReviewPage, size: 10 });
      const [products, { summary, rows }] = await Promise.all([
        selectProductNames(sql, [params.id]),
        selectProductReviews(sql, params.id, paging),
      ]);
      if (products.get(params.id)?.status !== 1) throw catalogErrors.product_not_found();
      const view = { zone: settings.get(timeZone), fileUrl: fileUrls(request, config).absolute };
      const list = rows.map((row) => publicReviewView(row, view));
      return { summary, ...paged(list, summary.total, paging) };
    },
  }),
];
