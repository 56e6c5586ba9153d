import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, maxBatch, nothing, pagedOf, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { reviewErrors } from '../errors.ts';
import { adminReviewQuery, adminReviewSchema, replyBody } from '../schemas.ts';
import { selectReviews, selectReviewsById, upsertReplies } from './admin-review-store.ts';
import { adminReviewViews } from './admin-review-views.ts';

const tag = 'Reviews (admin)';

export const adminReviewRoutes = (runtime: Runtime): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/admin/api/reviews',
    auth: 'staff',
    permission: 'order:view',
    tag,
    summary: 'Reviews of all products, newest first',
    query: adminReviewQuery,
    response: pagedOf(adminReviewSchema, maxBatch),
    statements: 4,
    async handle({ query, request, locale }) {
      const paging = pagingOf(query, { cap: maxBatch });
      const filter = {
        keyword: query.keyword?.toLowerCase() || null,
        product_id: query.product_id || null,
        reply_status: query.reply_status ?? null,
      };
      const { rows, total } = await selectReviews(runtime.sql, filter, paging);
      return paged(await adminReviewViews(runtime, rows, { request, locale }), total, paging);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/api/reviews/:id',
    auth: 'staff',
    permission: 'order:view',
    tag,
    summary: 'One review',
    params: idParams,
    response: adminReviewSchema,
    refuses: [reviewErrors.review_not_found],
    statements: 3,
    async handle({ params, request, locale }) {
      const rows = await selectReviewsById(runtime.sql, [params.id]);
      const [view] = await adminReviewViews(runtime, rows, { request, locale });
      if (!view) throw reviewErrors.review_not_found();
      return view;
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/api/reviews/:id/reply',
    auth: 'staff',
    permission: 'order:review-reply',
    tag,
    summary: 'Reply to a review; a second reply replaces the first',
    params: idParams,
    body: replyBody,
    response: nothing,
    refuses: [reviewErrors.review_not_found],
    repeat: 'recorded',
    statements: 1,
    async handle({ caller, params, body, write }) {
      const reply = { review_id: params.id, admin_id: caller.id, content: body.content };
      const written = await write((tx) => upsertReplies(tx, [reply], runtime.now()));
      if (written.length === 0) throw reviewErrors.review_not_found();
      return null;
    },
  }),
];
