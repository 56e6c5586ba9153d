import { randomInt } from 'node:crypto';
import type { AppError } from '@tradepost/core';
import { inventoryErrors } from '../errors.ts';
import type { DocType } from './document-hooks.ts';

export const docTypes = ['inbound', 'outbound'] as const;
/** A draft is completed, which moves the stock, or canceled; both are final. */
export const documentStates = ['draft', 'completed', 'canceled'] as const;
export type DocumentStatus = (typeof documentStates)[number];
/** Made by hand, or by the shop itself: its stock as it was, goods deducted or restored. */
export type DocumentBizType = 'manual' | 'takeover' | 'deduct' | 'restore';

export type DocumentItem = { sku_id: number; qty: number; unit_cost: number; remark: string };

const prefixes: Readonly<Record<DocType, string>> = { inbound: 'WI', outbound: 'WO' };
export const numberPrefix = (type: DocType): string => prefixes[type];

let sequence = 0;
/** Type, Unix nanoseconds, four digits that count and four of chance (contract: rules 1). */
export function documentNumber(type: DocType, at: Date): string {
  sequence = (sequence + 1) % 10_000;
  const nanoseconds = BigInt(at.getTime()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n);
  const four = (n: number) => String(n).padStart(4, '0');
  return `${prefixes[type]}${nanoseconds}${four(sequence)}${four(randomInt(10_000))}`;
}

/** Why a document is not changed, completed or canceled; null for a draft. */
export function draftRefusal(status: DocumentStatus): AppError | null {
  if (status === 'completed') return inventoryErrors.document_completed();
  return status === 'canceled' ? inventoryErrors.document_canceled() : null;
}
