import {
  amount,
  id,
  idOrZero,
  lineText,
  list,
  pageQueryWith,
  requiredText,
  text,
  timestamp,
  trimmedText,
  url,
} from '@tradepost/http';
import { shipmentSchema } from '@tradepost/orders';
import { z } from 'zod';
import { caseActions, caseStatuses, caseTypes } from './cases/case-moves.ts';
import { maxCaseLines, maxCaseShipments, maxEvidences, maxImages, maxLogs, maxMessagesPerSide } from './limits.ts';

/** Blanks and repetitions do not count, so a request may have more entries than `maxImages`. */
const images = () =>
  z
    .array(text(500))
    .max(50)
    .default([])
    .meta({ description: `at most ${maxImages} different addresses`, examples: [['/uploads/2026/11/crack.png']] });

const caseItems = z
  .array(
    z.object({
      order_item_id: id(),
      qty: z
        .int()
        .min(-1_000_000)
        .max(1_000_000)
        .meta({ description: 'a line with 0 or less is left out', examples: [1] }),
    }),
  )
  .max(maxCaseLines);

export const applyBody = z.object({
  case_type: text(32)
    .default('return')
    .meta({ description: 'return or exchange; any other text counts as return', examples: ['return'] }),
  reason: trimmedText(500)
    .default('')
    .meta({ description: 'required', examples: ['Broken on arrival'] }),
  apply_content: text(2000)
    .trim()
    .default('')
    .meta({ examples: ['The handle is cracked'] }),
  apply_images: images(),
  items: caseItems.default([]).meta({ description: 'at least one line with a quantity' }),
});

export const returnBody = z.object({
  company: lineText(32)
    .default('')
    .meta({ description: 'carrier code; may be empty', examples: ['SF'] }),
  tracking_no: lineText(64)
    .default('')
    .meta({ description: 'required', examples: ['SF1234567890'] }),
  remark: text(500)
    .default('')
    .meta({ examples: [''] }),
});

export const auditBody = z.object({
  approve: z.boolean().meta({ examples: [true] }),
  audit_remark: text(500)
    .trim()
    .default('')
    .meta({ examples: ['Please send it back'] }),
});
export const refundBody = z.object({
  amount: z
    .number()
    .min(-99_999_999.99)
    .max(99_999_999.99)
    .default(0)
    .meta({
      description: '0 or less: the amount of the case; a part of a cent is refused',
      examples: [0],
    }),
  reason: text(200)
    .trim()
    .default('')
    .meta({ examples: ['Goods received'] }),
  refund_no: lineText(64)
    .default('')
    .meta({ description: 'blank: the shop gives a number', examples: [''] }),
});
export const closeBody = z.object({
  reason: trimmedText(500)
    .default('')
    .meta({ description: 'required', examples: ['Withdrawn by the buyer'] }),
});

const content = requiredText(1000).meta({ examples: ['When will it arrive?'] });
export const shopperMessageBody = z.object({ content, images: images() });
export const staffMessageBody = z.object({
  from: z
    .enum(['merchant', 'user'])
    .default('merchant')
    .meta({ description: 'user: what the buyer said elsewhere', examples: ['merchant'] }),
  content,
  images: images(),
});
export const evidenceBody = z.object({
  images: images(),
  remark: text(500)
    .trim()
    .default('')
    .meta({ examples: ['Photo of the parcel'] }),
});

/** The names of the merchant app are accepted besides those of the API: both of its returns are the type `return`. */
const typeFilter = z
  .enum(['return', 'exchange', 'return_refund', 'refund_only'])
  .optional()
  .meta({ examples: ['return'] });
export const shopperCaseQuery = pageQueryWith({
  status: z
    .enum(caseStatuses)
    .optional()
    .meta({ examples: ['applied'] }),
  order_id: idOrZero()
    .optional()
    .meta({ description: '0 means all', examples: [1] }),
});
export const staffCaseQuery = shopperCaseQuery.extend({
  case_type: typeFilter,
  type: typeFilter.meta({ description: 'the same filter as case_type', examples: ['return_refund'] }),
});

const label = (example: string) => z.string().meta({ examples: [example] });
const imageUrls = list(url(), maxImages);

const logView = z
  .object({
    id: id(),
    case_id: id(),
    from_status: z.enum(['', ...caseStatuses]),
    from_status_label: label(''),
    to_status: z.enum(caseStatuses),
    to_status_label: label('Applied'),
    action: z.enum(caseActions),
    action_label: label('Applied'),
    operator_type: z.enum(['user', 'admin', 'system']),
    operator_type_label: label('Buyer'),
    operator_id: idOrZero(),
    content: z.string().meta({ examples: ['Applied for Return: Broken on arrival'] }),
    created_at: timestamp(),
  })
  .meta({ id: 'AfterSaleLog' });

const caseView = {
  id: id(),
  case_no: z.string().meta({ examples: ['AS17723286000000001'] }),
  order_id: id(),
  user_id: id(),
  merchant_id: id(),
  order_status_snapshot: z.int().meta({ examples: [3] }),
  case_type: z.enum(caseTypes),
  case_type_label: label('Return'),
  status: z.enum(caseStatuses),
  status_label: label('Applied'),
  reason: z.string(),
  apply_content: z.string(),
  apply_images: imageUrls,
  audit_status: z.enum(['pending', 'approved', 'rejected']),
  audit_status_label: label('Pending'),
  audit_remark: z.string(),
  refund_amount: amount().meta({ examples: [10.4] }),
  refund_no: z.string().meta({ examples: [''] }),
  close_reason: z.string(),
  completed_at: timestamp().nullable(),
  created_at: timestamp(),
  updated_at: timestamp(),
  items: list(
    z.object({ id: id(), case_id: id(), order_item_id: id(), qty: z.int().meta({ examples: [1] }) }),
    maxCaseLines,
  ),
  logs: list(logView, maxLogs).meta({ description: 'oldest first' }),
  shipments: list(shipmentSchema, maxCaseShipments).meta({ description: 'newest first' }),
};
export const caseSchema = z.object(caseView).meta({ id: 'AfterSaleCase' });

const messageList = list(
  z
    .object({
      id: id(),
      from: z.enum(['merchant', 'user']),
      content: z.string(),
      images: imageUrls,
      created_at: timestamp(),
    })
    .meta({ id: 'AfterSaleMessage' }),
  2 * maxMessagesPerSide,
).meta({ description: 'oldest first' });
const evidenceList = list(
  z
    .object({ id: id(), images: imageUrls, remark: z.string(), created_at: timestamp() })
    .meta({ id: 'AfterSaleEvidence' }),
  maxEvidences,
).meta({ description: 'oldest first' });

export const shopperCaseSchema = z.object({ ...caseView, messages: messageList }).meta({ id: 'ShopperAfterSaleCase' });
export const staffCaseSchema = z
  .object({
    ...caseView,
    total_amount: amount().meta({ description: 'what the buyer paid for the order', examples: [20.8] }),
    messages: messageList,
    evidences: evidenceList,
  })
  .meta({ id: 'AdminAfterSaleCase' });
export const messagesSchema = z.object({ id: id(), messages: messageList });
export const evidencesSchema = z.object({ id: id(), evidences: evidenceList });
