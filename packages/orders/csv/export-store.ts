import type { Transaction } from '@tradepost/postgres';

/** Records an export. The change log records who did it. */
export async function insertExport(
  tx: Transaction,
  { filter, receivers }: { filter: Readonly<Record<string, unknown>>; receivers: boolean },
): Promise<void> {
  await tx`insert into orders.order_exports (filter, receivers) values (${tx.json(filter as never)}, ${receivers})`;
}
