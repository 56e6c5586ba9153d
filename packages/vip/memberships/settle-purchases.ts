import { isoInZone } from '@tradepost/core';
import type { SubjectSession } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import { type MembershipOpened, membershipOpened } from '../vip-events.ts';
import { addMonths } from './add-months.ts';
import { type LockedAsset, lockAssets, type Opened, writeMemberships } from './asset-store.ts';
import { lockPurchases, type Purchase, type Settled, selectBuyers, settlePurchases } from './purchase-store.ts';

type Facts = { purchases: readonly Purchase[]; assets: ReadonlyMap<number, LockedAsset>; now: Date; zone: string };

/**
 * What paid purchases do to memberships. A purchase extends a membership that is still valid from its end, and begins another one now.
 * Several purchases of one shopper follow each other.
 */
export function openSettlement(tx: Transaction, { purchases, assets, now, zone }: Facts): SubjectSession {
  const byId = new Map(purchases.map((purchase) => [purchase.id, { ...purchase }]));
  const opened = new Map<number, Opened>();
  const settled: Settled[] = [];
  const events: MembershipOpened[] = [];
  return {
    refusal(id) {
      const { status, expires_at, user_id } = byId.get(id)!;
      if (status === 'paid') return 'already_paid';
      if (status === 'expired' || (status === 'pending' && expires_at <= now)) return 'expired';
      // Without its row the shopper has deleted the account.
      return status === 'cancelled' || !assets.has(user_id) ? 'cancelled' : null;
    },
    pay(id) {
      const purchase = byId.get(id)!;
      const { user_id, plan_id, plan_name, months, amount } = purchase;
      purchase.status = 'paid';
      const asset = assets.get(user_id)!;
      const before = opened.get(user_id);
      const end = before?.ends_at ?? asset.vip_end_at;
      const start = before?.starts_at ?? asset.vip_start_at;
      const valid = end !== null && end > now && (before !== undefined || asset.status === 1);
      const from = valid ? end : now;
      const ends_at = addMonths(from, months, zone);
      opened.set(user_id, {
        ...{ user_id, plan_id, months: months + (before?.months ?? 0), ends_at },
        starts_at: valid && start ? start : now,
      });
      settled.push({ id, paid_at: now, starts_at: from, ends_at });
      const facts = { purchase_id: id, user_id, plan_id, plan_name, months, amount };
      events.push({ ...facts, vip_end_at: isoInZone(ends_at, zone) });
    },
    statements: () =>
      settled.length === 0
        ? []
        : [
            settlePurchases(tx, settled),
            writeMemberships(tx, [...opened.values()], now),
            recordEvents(tx, membershipOpened, events, now),
          ],
  };
}

/** Locks the memberships of these purchases, and then the purchases. */
export async function lockSettlement(
  tx: Transaction,
  ids: readonly number[],
  { now, zone }: Pick<Facts, 'now' | 'zone'>,
): Promise<SubjectSession> {
  const assets = await lockAssets(tx, await selectBuyers(tx, ids));
  return openSettlement(tx, { purchases: await lockPurchases(tx, ids), assets, now, zone });
}
