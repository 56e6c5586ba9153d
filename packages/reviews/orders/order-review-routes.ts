import { defineRoute, fileUrls, idParams, largeBody, nothing, type Route } from '@tradepost/http';
import { selectOrder, selectOrderLines } from '@tradepost/orders';
import type { Runtime } from '@tradepost/runtime';
import { reviewErrors } from '../errors.ts';
import { reviewBody, reviewMetaSchema } from '../schemas.ts';
import { selectLineReviews } from './line-review-store.ts';
import { reviewMeta } from './review-meta.ts';
import { reviewRequestOf } from './review-request.ts';
import { writeReviews } from './write-reviews.ts';

const tag = 'Reviews';

export const orderReviewRoutes = ({ sql, config, now }: Runtime): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/v1/orders/:id/review',
    auth: 'shopper',
    tag,
    summary: 'The reviews of one of my orders, and what I can do about them',
    params: idParams,
    response: reviewMetaSchema,
    refuses: [reviewErrors.order_not_found],
    statements: 3,
    async handle({ caller, params, request }) {
      const order = await selectOrder(sql, params.id, caller.id);
      if (!order) throw reviewErrors.order_not_found();
      const [[found], reviews] = await Promise.all([
        selectOrderLines(sql, [order.id]),
        selectLineReviews(sql, [order.id]),
      ]);
      return reviewMeta(
        { ...order, is_imported: found?.is_imported ?? false, items: found?.items ?? [] },
        reviews,
        fileUrls(request, config).absolute,
      );
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/orders/:id/review',
    auth: 'shopper',
    tag,
    summary: 'Review lines of one of my orders; when every line has a review, a shipped order is completed: 3 -> 4',
    description:
      'create: lines without a review. edit: replaces reviews. append: adds a text or pictures to reviews. Without ' +
      '`items` the request is about all lines. One refused line refuses the whole request.',
    params: idParams,
    body: reviewBody,
    bodyLimit: largeBody,
    response: nothing,
    refuses: [
      reviewErrors.order_not_found,
      reviewErrors.cannot_review,
      reviewErrors.item_not_found,
      reviewErrors.item_twice,
      reviewErrors.nothing_written,
      reviewErrors.already_reviewed,
      reviewErrors.not_reviewed,
      reviewErrors.append_empty,
      reviewErrors.too_many_appends,
      reviewErrors.too_many_images,
      reviewErrors.image_address,
    ],
    repeat: 'recorded',
    statements: 7,
    async handle({ caller, params, body, request, write }) {
      const { relative } = fileUrls(request, config);
      const wanted = reviewRequestOf(body, { order_id: params.id, user_id: caller.id }, relative);
      await write((tx) => writeReviews(tx, wanted, now()));
      return null;
    },
  }),
];
