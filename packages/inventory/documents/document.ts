import { randomInt } from 'node:crypto';
import type { AppError } from '@tradepost/core';
import { inventoryErrors } from '../errors.ts';
import type { DocType } from './document-hooks.ts';

export const docTypes = ['inbound', 'outbound'] as const;
/** A draft is completed, which moves its stock, or canceled. Both states are final. */
export const documentStates = ['draft', 'completed', 'canceled'] as const;
export type DocumentStatus = (typeof documentStates)[number];
/** Written by staff (`manual`), or by the shop itself: provider migration (`takeover`), goods deducted or restored. */
export type DocumentBizType = 'manual' | 'takeover' | 'deduct' | 'restore';

export type DocumentItem = { sku_id: number; qty: number; unit_cost: number; remark: string };

const prefixes: Readonly<Record<DocType, string>> = { inbound: 'WI', outbound: 'WO' };
export const numberPrefix = (type: DocType): string => prefixes[type];

let sequence = 0;
/** The type, Unix nanoseconds, four digits of a counter and four random digits; the contract prescribes this format. */
export function documentNumber(type: DocType, at: Date): string {
  sequence = (sequence + 1) % 10_000;
  const nanoseconds = BigInt(at.getTime()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n);
  const four = (n: number) => String(n).padStart(4, '0');
  return `${prefixes[type]}${nanoseconds}${four(sequence)}${four(randomInt(10_000))}`;
}

/** The refusal to change, complete or cancel a document in this state; null for a draft. */
export function draftRefusal(status: DocumentStatus): AppError | null {
  if (status === 'completed') return inventoryErrors.document_completed();
  return status === 'canceled' ? inventoryErrors.document_canceled() : null;
}
