import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, fileUrls, id, idParams, nothing, pagedOf, type Route } from '@tradepost/http';
import type { ShippingHold } from '@tradepost/orders';
import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { applyCases } from './actions/apply-cases.ts';
import { returnShipCases } from './actions/return-ship-cases.ts';
import { selectCase, selectCasePage } from './cases/case-store.ts';
import { caseViews } from './cases/case-views.ts';
import { afterSaleErrors } from './errors.ts';
import { imagesIn } from './images.ts';
import { maxCasePage } from './limits.ts';
import { addMessages, messageViews } from './messages/add-messages.ts';
import { selectMessages } from './messages/message-store.ts';
import {
  applyBody,
  caseSchema,
  messagesSchema,
  returnBody,
  shopperCaseQuery,
  shopperCaseSchema,
  shopperMessageBody,
} from './schemas.ts';
import { firstOf } from './write-one.ts';

const tag = 'After-sales';

export function shopperCaseRoutes(runtime: Runtime, holds: readonly ShippingHold[]): Route[] {
  const { sql, config, now } = runtime;

  /** A case of this shopper. */
  async function ownCase(caseId: number, userId: number) {
    const found = await selectCase(sql, caseId);
    if (!found) throw afterSaleErrors.case_not_found();
    if (found.user_id !== userId) throw afterSaleErrors.foreign_case();
    return found;
  }

  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/orders/:id/after-sales',
      auth: 'shopper',
      tag,
      summary: 'Apply for a return or an exchange of lines of a paid order; the order moves to 5, after-sale',
      params: idParams,
      body: applyBody,
      response: z.object({ id: id() }),
      refuses: [
        afterSaleErrors.reason_required,
        afterSaleErrors.products_required,
        afterSaleErrors.order_not_found,
        afterSaleErrors.order_not_paid,
        afterSaleErrors.order_cancelled,
        afterSaleErrors.order_imported,
        afterSaleErrors.no_valid_products,
        afterSaleErrors.item_not_found,
        afterSaleErrors.open_case_exists,
        afterSaleErrors.quantity_exceeded,
        afterSaleErrors.too_many_images,
        afterSaleErrors.image_address,
        ...holds.map(({ refusal }) => refusal),
      ],
      repeat: 'recorded',
      statements: 6 + (holds.length > 0 ? 1 + holds.length : 0),
      async handle({ caller, params, body, request, write }) {
        const apply_images = imagesIn('apply_images', body.apply_images, fileUrls(request, config).relative);
        const case_type = body.case_type === 'exchange' ? 'exchange' : 'return';
        const application = { ...body, order_id: params.id, user_id: caller.id, case_type, apply_images } as const;
        return { id: await write(async (tx) => firstOf(await applyCases(tx, [application], { holds, now: now() }))) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/after-sales',
      auth: 'shopper',
      tag,
      summary: 'My after-sale cases, newest first',
      query: shopperCaseQuery,
      response: pagedOf(caseSchema, maxCasePage),
      statements: 3,
      async handle({ caller, query, request, locale }) {
        const paging = pagingOf(query, { cap: maxCasePage });
        const filter = {
          user_id: caller.id,
          status: query.status ?? null,
          case_type: null,
          order_id: query.order_id || null,
        };
        const { rows, total } = await selectCasePage(sql, filter, paging);
        return paged(await caseViews(runtime, rows, { request, locale }), total, paging);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/after-sales/:id',
      auth: 'shopper',
      tag,
      summary: 'One of my after-sale cases, with its log, shipments and messages',
      params: idParams,
      response: shopperCaseSchema,
      refuses: [afterSaleErrors.case_not_found, afterSaleErrors.foreign_case],
      statements: 4,
      async handle({ caller, params, request, locale }) {
        const found = await ownCase(params.id, caller.id);
        const [[view], messages] = await Promise.all([
          caseViews(runtime, [found], { request, locale }),
          selectMessages(sql, [found.id]),
        ]);
        return { ...view!, messages: messageViews(runtime, messages, request) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/after-sales/:id/return-shipments',
      auth: 'shopper',
      tag,
      summary: 'Record the parcel with which the goods go back',
      params: idParams,
      body: returnBody,
      response: nothing,
      refuses: [
        afterSaleErrors.case_not_found,
        afterSaleErrors.foreign_case,
        afterSaleErrors.tracking_no_required,
        afterSaleErrors.cannot_return,
      ],
      repeat: 'recorded',
      statements: 7,
      async handle({ caller, params, body, write }) {
        await ownCase(params.id, caller.id);
        const parcel = { ...body, case_id: params.id, operator: { type: 'user', id: caller.id } } as const;
        await write(async (tx) => {
          firstOf(await returnShipCases(tx, [parcel], now()));
        });
        return null;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/after-sales/:id/messages',
      auth: 'shopper',
      tag,
      summary: 'Write a message to the merchant about an after-sale case',
      params: idParams,
      body: shopperMessageBody,
      response: messagesSchema,
      refuses: [
        afterSaleErrors.case_not_found,
        afterSaleErrors.foreign_case,
        afterSaleErrors.too_many_images,
        afterSaleErrors.image_address,
        afterSaleErrors.too_many_messages,
      ],
      repeat: 'recorded',
      statements: 4,
      async handle({ caller, params, body, request, write }) {
        await ownCase(params.id, caller.id);
        const images = imagesIn('images', body.images, fileUrls(request, config).relative);
        const message = {
          ...({ content: body.content, images, from: 'user' } as const),
          ...({ operator_type: 'user', operator_id: caller.id } as const),
        };
        await write(async (tx) => firstOf(await addMessages(tx, [params.id], message, now())));
        return { id: params.id, messages: messageViews(runtime, await selectMessages(sql, [params.id]), request) };
      },
    }),
  ];
}
