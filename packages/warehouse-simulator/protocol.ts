import { z } from 'zod';

/** The six actions by their paths. `/stock/sellable` is a query. */
export const actionPaths = {
  '/reserve': 'reserve',
  '/confirm': 'confirm',
  '/release': 'release',
  '/deduct': 'deduct',
  '/restore': 'restore',
  '/sync-sku': 'sync_sku',
} as const;
export const sellablePath = '/stock/sellable';
export type Action = (typeof actionPaths)[keyof typeof actionPaths];
export const callNames = [...Object.values(actionPaths), 'sellable'] as const;
export type CallName = (typeof callNames)[number];

export const codes = { done: 0, malformed: 4001, signature: 4002, insufficient: 4003, business: 4004 } as const;
export const retryableCodes = [1001, 1002, 1003, 2001, 5000, 5001, 5002] as const;
export const isRetryable = (code: number): boolean => (retryableCodes as readonly number[]).includes(code);

export type Answer = { code: number; message: string };
export type Item = { sku_id: number; qty: number };
/** One call of an action. For sync_sku, `qty` of the only item is the stock. */
export type Intent = {
  action: Action;
  biz_type: string;
  biz_no: string;
  request_id: string;
  /** Sorted by SKU, each once. */
  items: readonly Item[];
};

const maxQuantity = 2 ** 31 - 1;
const skuId = z.int().positive();
const item = z.object({ sku_id: skuId, qty: z.int().min(1).max(maxQuantity) });
const items = z.array(item).min(1).max(1_000);
const document = {
  // With a colon, two documents could have the same idempotency key.
  biz_type: z
    .string()
    .min(1)
    .max(100)
    .regex(/^[^:]+$/, { error: 'must not contain a colon' }),
  biz_no: z.string().min(1).max(200),
  request_id: z.string().min(1).max(500).optional(),
};
const reason = z.string().max(1_000);
const bodies = {
  reserve: z.object({ ...document, items }),
  confirm: z.object(document),
  release: z.object({ ...document, reason }),
  deduct: z.object({ ...document, items }),
  restore: z.object({ ...document, reason, items }),
  sync_sku: z.object({ ...document, sku_id: skuId, stock: z.int().min(0).max(maxQuantity) }),
} as const;
const sellableBody = z.object({ sku_ids: z.array(skuId).max(10_000), request_id: z.string().max(500).optional() });

export const keyOf = ({ biz_type, biz_no, action }: Pick<Intent, 'biz_type' | 'biz_no' | 'action'>): string =>
  `${biz_type}:${biz_no}:${action}`;

function sortedItems(given: readonly Item[]): readonly Item[] {
  if (given.length === 1) return given;
  const bySku = new Map<number, number>();
  for (const { sku_id, qty } of given) bySku.set(sku_id, (bySku.get(sku_id) ?? 0) + qty);
  return [...bySku].sort(([a], [b]) => a - b).map(([sku_id, qty]) => ({ sku_id, qty }));
}

/** The first fault of a body, with its field. */
function faultOf(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue!.path.join('.') || 'body'}: ${issue!.message}`;
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'body: not JSON';
  }
  const result = schema.safeParse(json);
  return result.success ? result.data : faultOf(result.error);
}

/** The intent of a body, or its fault. */
export function readIntent(action: Action, text: string, idempotencyKey: string | undefined): Intent | string {
  type Body = z.infer<(typeof bodies)['confirm']> & { items?: Item[]; sku_id?: number; stock?: number };
  const body = parsed(bodies[action] as z.ZodType<Body>, text);
  if (typeof body === 'string') return body;
  const { biz_type, biz_no, request_id, sku_id, stock } = body;
  if (request_id !== undefined && idempotencyKey !== undefined && request_id !== idempotencyKey)
    return 'request_id: not the one of the header Idempotency-Key';
  return {
    ...{ action, biz_type, biz_no },
    request_id: request_id ?? idempotencyKey ?? keyOf({ biz_type, biz_no, action }),
    items: sku_id === undefined ? sortedItems(body.items ?? []) : [{ sku_id, qty: stock! }],
  };
}

export const readSellable = (text: string) => parsed(sellableBody, text);
