import type { RefusalFactory } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { lockOrders } from '../payments/order-refund-store.ts';

/** Keeps paid orders from being shipped and returned, for example while their group is open. */
export type ShippingHold = {
  /** Why a held order is not shipped. */
  readonly refusal: RefusalFactory;
  /** The ids of the held ones of these orders. The orders are locked. One statement. */
  held(tx: Transaction, orderIds: readonly number[]): Promise<readonly number[]>;
};

export const shippingHolds = defineRegistry<ShippingHold>('orders.shipping_holds', { isStatic: true });

/** An order that is held, and the name of the refusal. It can be stored as JSON. */
export type HeldOrder = { readonly order_id: number; readonly refusal: string };

/** The refusal with this name; undefined for an order that is not held. */
export const heldRefusal = (holds: readonly ShippingHold[], name: string | undefined): Error | undefined =>
  holds.find(({ refusal }) => refusal.refusalName === name)?.refusal();

/**
 * The held ones of these orders. Locks the orders, so that no hold begins before the transaction ends. Without holds no
 * statement is sent.
 */
export async function selectHeldOrders(
  tx: Transaction,
  holds: readonly ShippingHold[],
  orderIds: readonly number[],
): Promise<HeldOrder[]> {
  if (holds.length === 0) return [];
  await lockOrders(tx, orderIds);
  const held = await Promise.all(
    holds.map(async (hold) => {
      const ids = await hold.held(tx, orderIds);
      return ids.map((order_id) => ({ order_id, refusal: hold.refusal.refusalName }));
    }),
  );
  return held.flat();
}
