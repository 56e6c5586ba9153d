import { paged, pagingOf, toWire } from '@tradepost/core';
import { defineRoute, fileUrls, idParams, maxBatch, nothing, pagedOf, type Route } from '@tradepost/http';
import type { Inventory } from '@tradepost/inventory';
import { selectOrderLines } from '@tradepost/orders';
import type { Runtime } from '@tradepost/runtime';
import { auditCases } from './actions/audit-cases.ts';
import { closeCases, completeCases } from './actions/end-cases.ts';
import { receiveCases } from './actions/receive-cases.ts';
import { refundCases, requestedAmount } from './actions/refund-cases.ts';
import { selectCase, selectCasePage } from './cases/case-store.ts';
import { caseViews } from './cases/case-views.ts';
import { afterSaleErrors } from './errors.ts';
import { imagesIn } from './images.ts';
import { addEvidences, addMessages, evidenceViews, messageViews } from './messages/add-messages.ts';
import { selectEvidences, selectMessages } from './messages/message-store.ts';
import {
  auditBody,
  caseSchema,
  closeBody,
  evidenceBody,
  evidencesSchema,
  messagesSchema,
  refundBody,
  staffCaseQuery,
  staffCaseSchema,
  staffMessageBody,
} from './schemas.ts';
import { firstOf } from './write-one.ts';

const tag = 'After-sales (admin)';
const staff = { auth: 'staff', tag, params: idParams, repeat: 'recorded' } as const;
const byStaff = (id: number) => ({ type: 'admin', id }) as const;

type Deps = { runtime: Runtime; inventory: Pick<Inventory, 'restore'> };

export const staffCaseRoutes = (deps: Deps): Route[] => [
  ...caseReadRoutes(deps),
  ...caseActionRoutes(deps),
  ...caseNoteRoutes(deps),
];

function caseReadRoutes({ runtime }: Deps): Route[] {
  const { sql } = runtime;
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/api/after-sales',
      auth: 'staff',
      permission: 'order:view',
      tag,
      summary: 'After-sale cases of all shoppers, newest first',
      query: staffCaseQuery,
      response: pagedOf(caseSchema, maxBatch),
      statements: 3,
      async handle({ query, request, locale }) {
        const paging = pagingOf(query, { cap: maxBatch });
        const type = query.case_type ?? query.type;
        const case_type = type === undefined ? null : type === 'exchange' ? 'exchange' : 'return';
        const filter = {
          user_id: null,
          status: query.status ?? null,
          case_type,
          order_id: query.order_id || null,
        } as const;
        const { rows, total } = await selectCasePage(sql, filter, paging);
        return paged(await caseViews(runtime, rows, { request, locale }), total, paging);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/after-sales/:id',
      auth: 'staff',
      permission: 'order:view',
      tag,
      summary: 'One after-sale case, with its log, shipments, messages and evidences',
      params: idParams,
      response: staffCaseSchema,
      refuses: [afterSaleErrors.case_not_found],
      statements: 6,
      async handle({ params, request, locale }) {
        const found = await selectCase(sql, params.id);
        if (!found) throw afterSaleErrors.case_not_found();
        const [[view], [order], messages, evidences] = await Promise.all([
          caseViews(runtime, [found], { request, locale }),
          selectOrderLines(sql, [found.order_id]),
          selectMessages(sql, [found.id]),
          selectEvidences(sql, [found.id]),
        ]);
        return {
          ...view!,
          total_amount: toWire(order?.total_amount ?? 0),
          messages: messageViews(runtime, messages, request),
          evidences: evidenceViews(runtime, evidences, request),
        };
      },
    }),
  ];
}

function caseActionRoutes({ runtime, inventory }: Deps): Route[] {
  const { now } = runtime;
  return [
    defineRoute({
      ...staff,
      method: 'POST',
      path: '/admin/api/after-sales/:id/audit',
      permission: 'order:ship',
      summary: 'Approve or reject an application',
      body: auditBody,
      response: nothing,
      refuses: [afterSaleErrors.case_not_found, afterSaleErrors.cannot_audit],
      // Five to approve, three more to end the order after a rejection, two for a message to the buyer, one for the event.
      statements: 11,
      async handle({ caller, params, body, write }) {
        const { approve, audit_remark } = body;
        const audit = { case_id: params.id, operator: byStaff(caller.id), audit_remark };
        await write(async (tx) => {
          firstOf(await auditCases(tx, runtime, approve, [audit]));
        });
        return null;
      },
    }),
    defineRoute({
      ...staff,
      method: 'POST',
      path: '/admin/api/after-sales/:id/receive',
      permission: 'order:ship',
      summary: 'Confirm that the returned goods have arrived; they go into stock as the settings say',
      response: nothing,
      refuses: [afterSaleErrors.case_not_found, afterSaleErrors.cannot_receive],
      // In warehouses; eight when the SKUs hold the stock.
      statements: 15,
      async handle({ caller, params, write }) {
        const request = { case_id: params.id, operator: byStaff(caller.id) };
        await write(async (tx) => {
          firstOf(await receiveCases(tx, { runtime, inventory }, [request]));
        });
        return null;
      },
    }),
    defineRoute({
      ...staff,
      method: 'POST',
      path: '/admin/api/after-sales/:id/refund',
      permission: 'order:refund',
      summary: 'Refund a return through the payment of its order, never above what was paid',
      body: refundBody,
      response: nothing,
      refuses: [
        afterSaleErrors.case_not_found,
        afterSaleErrors.cannot_refund,
        afterSaleErrors.invalid_refund_amount,
        afterSaleErrors.refund_no_taken,
      ],
      statements: 13,
      async handle({ caller, params, body, write }) {
        const request = {
          ...{ case_id: params.id, operator: byStaff(caller.id) },
          ...{ ...body, amount: requestedAmount(body.amount) },
        };
        await write(async (tx) => {
          firstOf(await refundCases(tx, runtime, [request]));
        });
        return null;
      },
    }),
    defineRoute({
      ...staff,
      method: 'POST',
      path: '/admin/api/after-sales/:id/complete',
      permission: 'order:ship',
      summary: 'Complete a case that was refunded or reshipped; a completed case stays completed',
      response: nothing,
      refuses: [afterSaleErrors.case_not_found, afterSaleErrors.cannot_complete],
      statements: 9,
      async handle({ caller, params, write }) {
        const request = { case_id: params.id, operator: byStaff(caller.id) };
        await write(async (tx) => firstOf(await completeCases(tx, [request], now())));
        return null;
      },
    }),
    defineRoute({
      ...staff,
      method: 'POST',
      path: '/admin/api/after-sales/:id/close',
      permission: 'order:ship',
      summary: 'Close a case that was neither refunded nor reshipped',
      body: closeBody,
      response: nothing,
      refuses: [afterSaleErrors.case_not_found, afterSaleErrors.cannot_close, afterSaleErrors.close_reason_required],
      statements: 9,
      async handle({ caller, params, body, write }) {
        const request = { case_id: params.id, operator: byStaff(caller.id), reason: body.reason };
        await write(async (tx) => {
          firstOf(await closeCases(tx, [request], now()));
        });
        return null;
      },
    }),
  ];
}

function caseNoteRoutes({ runtime }: Deps): Route[] {
  const { sql, config, now } = runtime;
  return [
    defineRoute({
      ...staff,
      method: 'POST',
      path: '/admin/api/after-sales/:id/messages',
      permission: 'order:ship',
      summary: 'Write a message about an after-sale case; the buyer sees it',
      body: staffMessageBody,
      response: messagesSchema,
      refuses: [
        afterSaleErrors.case_not_found,
        afterSaleErrors.too_many_images,
        afterSaleErrors.image_address,
        afterSaleErrors.too_many_messages,
      ],
      statements: 3,
      async handle({ caller, params, body, request, write }) {
        const images = imagesIn('images', body.images, fileUrls(request, config).relative);
        const message = { ...body, images, operator_type: 'admin', operator_id: caller.id } as const;
        await write(async (tx) => firstOf(await addMessages(tx, [params.id], message, now())));
        return { id: params.id, messages: messageViews(runtime, await selectMessages(sql, [params.id]), request) };
      },
    }),
    defineRoute({
      ...staff,
      method: 'POST',
      path: '/admin/api/after-sales/:id/evidences',
      permission: 'order:ship',
      summary: 'Add images as evidence to an after-sale case; only the merchant sees them',
      body: evidenceBody,
      response: evidencesSchema,
      refuses: [
        afterSaleErrors.case_not_found,
        afterSaleErrors.images_required,
        afterSaleErrors.too_many_images,
        afterSaleErrors.image_address,
        afterSaleErrors.too_many_evidences,
      ],
      statements: 3,
      async handle({ caller, params, body, request, write }) {
        const images = imagesIn('images', body.images, fileUrls(request, config).relative);
        const evidence = { images, remark: body.remark, staff_id: caller.id };
        await write(async (tx) => firstOf(await addEvidences(tx, [params.id], evidence, now())));
        return { id: params.id, evidences: evidenceViews(runtime, await selectEvidences(sql, [params.id]), request) };
      },
    }),
  ];
}
