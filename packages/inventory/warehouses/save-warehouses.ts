import type { AppError } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { type Claim, faultCode, type Runtime } from '@tradepost/runtime';
import type { WarehouseHooks } from '../documents/document-hooks.ts';
import { inventoryErrors } from '../errors.ts';
import { maxWarehouses } from '../limits.ts';
import { mustKeepStock } from '../reservations/provider-fence.ts';
import { maxQuantity } from '../stock/stock-moves.ts';
import {
  insertWarehouse,
  lockAndCountWarehouses,
  lockSkusInWarehouse,
  lockWarehouse,
  mirrorWarehouse,
  selectWarehouse,
  updateWarehouse,
  type Warehouse,
  type WarehouseChange,
  type WarehouseFields,
} from './warehouse-store.ts';

type Deps = Pick<Runtime, 'sql' | 'idempotency'>;
const createUseCase = 'create_warehouse';

/**
 * Creates a warehouse. When the process died after the commit of the first request, the repeat gets the warehouse of
 * that request.
 */
export async function createWarehouse(
  { sql, idempotency }: Deps,
  fields: WarehouseFields,
  claim: Claim | null,
): Promise<Warehouse> {
  const made = claim?.outcomes[createUseCase];
  if (typeof made === 'number') return (await selectWarehouse(sql, made))!;
  return sql.begin(async (tx) => {
    if ((await lockAndCountWarehouses(tx)) >= maxWarehouses)
      throw inventoryErrors.too_many_warehouses({ max: maxWarehouses });
    const row = await insertWarehouse(tx, fields);
    if (!row) throw inventoryErrors.warehouse_code_taken({ code: fields.code });
    if (claim)
      for (const statement of idempotency.record(tx, createUseCase, [{ ...claim, outcome: row.id }])) await statement;
    return row;
  });
}

/** Turns an SQL error into a refusal. `state` is 23505 (unique violation) or 22003 (out of the range of a column). */
async function orRefuse<T>(work: Promise<T>, state: string, refusal: () => AppError): Promise<T> {
  return work.catch((error: unknown) => {
    throw faultCode(error) === state ? refusal() : error;
  });
}

/**
 * Writes the fields of `change`. A change of the status waits for documents that are being completed in this warehouse. When
 * SKUs carry the sums over the enabled warehouses, it also adds the warehouse's stock and reserved stock to these sums or
 * subtracts them. Open orders keep their reservations in a disabled warehouse, and no new ones are made there.
 */
export async function changeWarehouse(
  tx: Transaction,
  { mirrors }: Pick<WarehouseHooks, 'mirrors'>,
  id: number,
  change: WarehouseChange,
): Promise<void> {
  const now = await lockWarehouse(tx, id);
  if (!now) throw inventoryErrors.warehouse_not_found();
  const moves = change.status !== undefined && change.status !== now.status;
  const switched = mirrors && moves;
  if (switched) await lockSkusInWarehouse(tx, id);
  if (moves) await mustKeepStock(tx, mirrors ? 'in warehouses' : 'on SKUs');
  await orRefuse(updateWarehouse(tx, id, change), '23505', () =>
    inventoryErrors.warehouse_code_taken({ code: change.code ?? '' }),
  );
  if (switched)
    await orRefuse(mirrorWarehouse(tx, id, change.status === 1 ? 1 : -1), '22003', () =>
      inventoryErrors.warehouse_too_full({ max: maxQuantity }),
    );
}
