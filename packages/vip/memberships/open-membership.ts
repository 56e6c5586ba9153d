import { AppError } from '@tradepost/core';
import type { SubjectPayment, SubjectPayments } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { vipErrors } from '../errors.ts';
import { maxMonthsLeft } from '../limits.ts';
import { type Plan, plans } from '../plans/plan-store.ts';
import { addMonths } from './add-months.ts';
import { ensureAssets, type LockedAsset, lockAssets } from './asset-store.ts';
import { closePurchase, insertPurchase, lockPending, type NewPurchase, type Purchase } from './purchase-store.ts';
import { openSettlement } from './settle-purchases.ts';

/** The subject of payments for memberships. */
export const purchaseSubject = { name: 'vip.purchase', prefix: 'VIP' } as const;

export type OpenDeps = { payments: SubjectPayments; now: Date; zone: string; unpaidMinutes: number };

const isActive = (asset: LockedAsset, now: Date) =>
  asset.status === 1 && asset.vip_end_at !== null && asset.vip_end_at > now;

/** The purchase of this plan by this shopper, now. Throws the refusal. */
function purchaseOf(plan: Plan, asset: LockedAsset, { payments, now, zone, unpaidMinutes }: OpenDeps): NewPurchase {
  const active = isActive(asset, now);
  const amount = active && plan.renew_price > 0 ? plan.renew_price : plan.price;
  const end = addMonths(active ? asset.vip_end_at! : now, plan.months, zone);
  if (end > addMonths(now, maxMonthsLeft, zone)) throw vipErrors.too_long({ years: maxMonthsLeft / 12 });
  return {
    ...{ user_id: asset.user_id, plan_id: plan.id, plan_name: plan.name, months: plan.months, amount },
    provider: amount === 0 ? 'free' : payments.isInstant() ? 'instant' : providerName(payments),
    ...{ status: 'pending', created_at: now, expires_at: new Date(now.getTime() + unpaidMinutes * 60_000) },
    ...{ paid_at: null, starts_at: null, ends_at: null },
  };
}

function providerName(payments: SubjectPayments): string {
  try {
    return payments.providerName();
  } catch (error) {
    // The shop has no payment provider. `tradepost doctor` says what is missing; the shopper needs no name of a setting.
    if (error instanceof AppError) throw vipErrors.payment_unavailable();
    throw error;
  }
}

const isSame = (pending: Purchase, wanted: NewPurchase, now: Date) =>
  pending.expires_at > now &&
  (['amount', 'months', 'provider', 'plan_name'] as const).every((field) => pending[field] === wanted[field]);

/**
 * Opens or extends the membership of a shopper. With instant payment, and for a free plan, it begins at once. Otherwise it begins
 * with the notice of the payment that is returned; a repeated call returns the open payment.
 */
export async function openMembership(
  tx: Transaction,
  { user_id, plan_id }: { user_id: number; plan_id: number },
  deps: OpenDeps,
): Promise<{ payment: SubjectPayment; expires_at: Date } | null> {
  const { payments, now, zone } = deps;
  await ensureAssets(tx, [user_id], now);
  const assets = await lockAssets(tx, [user_id]);
  const plan = await plans.select(tx, plan_id);
  if (plan?.status !== 1) throw vipErrors.plan_unavailable();
  const wanted = purchaseOf(plan, assets.get(user_id)!, deps);
  const pending = await lockPending(tx, user_id, plan_id);
  const reused = pending && isSame(pending, wanted, now) ? pending : null;
  if (pending && !reused) {
    await closePurchase(tx, pending.id, pending.expires_at <= now ? 'expired' : 'cancelled');
    await payments.close(tx, purchaseSubject.name, [pending.id], now);
  }
  const purchase = reused ?? (await insertPurchase(tx, wanted));
  if (purchase.provider === 'free' || purchase.provider === 'instant') {
    const settlement = openSettlement(tx, { purchases: [purchase], assets, now, zone });
    settlement.pay(purchase.id);
    await Promise.all(settlement.statements());
    return null;
  }
  const { id, provider, amount, expires_at } = purchase;
  const payment = await payments.open(tx, { subject: purchaseSubject, id, provider, amount, expires_at, now });
  return { payment, expires_at };
}
