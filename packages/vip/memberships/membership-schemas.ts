import { amount, id, idOrZero, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { status } from '../fields.ts';
import type { Asset, GrowthLog } from './asset-store.ts';

const growthValue = () =>
  z
    .int()
    .min(0)
    .meta({ examples: [1200] });

export const profileSchema = z
  .object({
    is_vip: z.boolean(),
    level_name: z.string().meta({ description: 'the level of the growth; empty without one', examples: ['Gold'] }),
    growth_value: growthValue(),
    expire_at: timestamp().nullable().meta({ description: 'the end of an active membership' }),
  })
  .meta({ id: 'VipProfile' });

/** `plan_id` has no other bound: an unknown plan is refused by its own text. */
export const openBody = z.object({ plan_id: id() });

const assetSchema = z
  .object({
    id: id(),
    user_id: id(),
    current_plan_id: idOrZero(),
    current_level_id: idOrZero(),
    vip_start_at: timestamp().nullable(),
    vip_end_at: timestamp().nullable(),
    growth_value: growthValue(),
    status: status().meta({ description: '0 none, 1 active' }),
  })
  .meta({ id: 'VipAsset' });

export const openedSchema = z
  .object({
    ...assetSchema.shape,
    payment: z
      .object({
        payment_no: z.string().meta({ examples: ['VIP17723586000000123456789'] }),
        pay_url: z.string().meta({ examples: ['http://127.0.0.1:8080/pay/sandbox/VIP17723586000000123456789'] }),
        amount: amount(),
        currency: z.string().meta({ examples: ['CNY'] }),
        expires_at: timestamp(),
      })
      .optional()
      .meta({ description: 'what must be paid first; absent when the membership has begun' }),
  })
  .meta({ id: 'VipOpened' });

const growthTypes = ['order_paid', 'order_refund', 'admin_adjust'] as const;
export const growthLogSchema = z
  .object({
    id: id(),
    user_id: id(),
    order_id: idOrZero(),
    event_type: z.enum(growthTypes),
    event_type_label: z.string().meta({ examples: ['Order paid'] }),
    growth_delta: z.int().meta({ examples: [129] }),
    balance_after: growthValue(),
    remark: z.string().meta({ examples: ['1772358600000000001'] }),
    created_at: timestamp(),
  })
  .meta({ id: 'VipGrowthLog' });

type Iso = (at: Date) => string;

/** `firstLevel` is the level of a shopper without a row. */
export const profileView = (asset: Asset | undefined, firstLevel: string, iso: Iso) => ({
  is_vip: asset?.status === 1,
  level_name: asset?.level_name ?? firstLevel,
  growth_value: asset?.growth_value ?? 0,
  expire_at: asset?.status === 1 && asset.vip_end_at ? iso(asset.vip_end_at) : null,
});

export const assetView = (asset: Asset, iso: Iso) => ({
  ...{ id: asset.id, user_id: asset.user_id, current_plan_id: asset.current_plan_id },
  ...{ current_level_id: asset.level_id, growth_value: asset.growth_value, status: asset.status },
  vip_start_at: asset.vip_start_at ? iso(asset.vip_start_at) : null,
  vip_end_at: asset.vip_end_at ? iso(asset.vip_end_at) : null,
});

export const growthLogView = (log: GrowthLog, label: string, iso: Iso) => ({
  ...log,
  event_type_label: label,
  created_at: iso(log.created_at),
});
