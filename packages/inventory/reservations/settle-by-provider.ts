import type { Statement, Transaction } from '@tradepost/postgres';
import type { Inventory, InventoryProvider, WriteOrderStatus } from './provider.ts';
import { selectExternalOrders } from './state-store.ts';

/**
 * Confirm and release, by the provider that holds each order. Only where an external warehouse was put in or out of force
 * can there be orders of two: then they are looked up first. The caller has written the status of the provider in force.
 */
export function settleByProvider(
  current: InventoryProvider,
  former: InventoryProvider | null,
  writeOrderStatus: WriteOrderStatus,
): Pick<Inventory, 'confirm' | 'release'> {
  if (!former)
    return {
      confirm: async (tx, bizNos) => current.confirm(tx, bizNos),
      release: async (tx, bizNos, reason) => current.release(tx, bizNos, reason),
    };
  const settle = async (
    tx: Transaction,
    bizNos: readonly string[],
    phase: 'confirm' | 'release',
    send: (provider: InventoryProvider, bizNos: readonly string[]) => Statement[],
  ) => {
    const external = await selectExternalOrders(tx, bizNos);
    const isOf = (provider: InventoryProvider) => (bizNo: string) =>
      external.has(bizNo) === (provider.name === 'external_wms');
    const own = bizNos.filter(isOf(current));
    const others = bizNos.filter(isOf(former));
    const status = former.statusAfter[phase];
    return [
      ...(own.length > 0 ? send(current, own) : []),
      ...(others.length > 0 ? send(former, others) : []),
      ...(others.length > 0 && status !== current.statusAfter[phase]
        ? [
            writeOrderStatus(
              tx,
              others.map((order_no) => ({ order_no, status })),
            ),
          ]
        : []),
    ];
  };
  return {
    confirm: (tx, bizNos) => settle(tx, bizNos, 'confirm', (provider, some) => provider.confirm(tx, some)),
    release: (tx, bizNos, reason) =>
      settle(tx, bizNos, 'release', (provider, some) => provider.release(tx, some, reason)),
  };
}
