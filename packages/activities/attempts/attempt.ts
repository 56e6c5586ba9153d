import { isoInZone, type Labels, type Locale, labelOf } from '@tradepost/core';

export const attemptStatuses = ['pending', 'success', 'failed'] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

/**
 * An attempt: a group, or a bargain. A shopper opens it for a row of an activity, others take part in it, and it succeeds or fails before
 * `expire_at`. `sku_id` 0 is any SKU of the product.
 */
export type Attempt = {
  id: number;
  activity_id: number;
  activity_product_id: number;
  activity_name: string;
  product_id: number;
  sku_id: number;
  status: AttemptStatus;
  expire_at: Date;
  created_at: Date;
  ended_at: Date | null;
};

export type AttemptReader = { readonly zone: string; readonly locale: Locale };

/** The status and the times of an attempt as fields of the wire. `labels` has the texts of its status. */
export const attemptProgress = (
  { status, expire_at, created_at, ended_at }: Attempt,
  labels: Labels,
  { zone, locale }: AttemptReader,
) => ({
  status,
  status_label: labelOf(labels, status, locale),
  expire_at: isoInZone(expire_at, zone),
  created_at: isoInZone(created_at, zone),
  ended_at: ended_at && isoInZone(ended_at, zone),
});

/** The first character of a nickname: what other shoppers see of it. Ids are consecutive, so every shopper can read all attempts. */
export const maskedNickname = (nickname: string): string => (nickname === '' ? '' : `${[...nickname][0]}***`);
