import { type Locale, labelOf } from '@tradepost/core';
import { pointsType, writePoints } from '@tradepost/points';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import { mallErrors } from '../errors.ts';
import { eventOfMove, exchangeFacts } from '../mall-events.ts';
import { addSold, lockProducts } from '../products/product-store.ts';
import { type Exchange, type ExchangeMove, exchangeStatusLabels } from './exchange.ts';
import { type MoveOptions, selectExchange, updateExchanges } from './exchange-store.ts';

/** Puts the pieces of cancelled exchanges back into stock, and their points on the accounts. */
async function returnPieces(tx: Transaction, exchanges: readonly Exchange[], { now }: MoveOptions): Promise<void> {
  // A product that was deleted has no open exchange, so each of these exists.
  await lockProducts(
    tx,
    exchanges.map(({ product_id }) => product_id),
  );
  await addSold(
    tx,
    exchanges.map(({ product_id, qty }) => ({ product_id, qty: -qty })),
  );
  const outcomes = await writePoints(
    tx,
    exchanges.map(({ id, user_id, points_cost }) => ({
      ...{ user_id, points: points_cost, related_id: id },
      type: pointsType.exchange,
      // Made when it is read: `exchangeRemarks`.
      remark: '',
      key: `points_mall:${id}:canceled`,
    })),
    now,
  );
  for (const outcome of outcomes) if (outcome instanceof Error) throw outcome;
}

/**
 * Moves exchanges whose status allows it, and returns them. A cancellation returns points and stock in the same transaction. Locks
 * exchanges, then products, then points accounts. At most nine statements.
 */
async function moveExchanges(
  tx: Transaction,
  ids: readonly number[],
  name: ExchangeMove,
  move: MoveOptions,
): Promise<Exchange[]> {
  const moved = await updateExchanges(tx, ids, name, move);
  if (moved.length === 0) return [];
  if (name === 'cancel') await returnPieces(tx, moved, move);
  await recordEvents(tx, eventOfMove[name], moved.map(exchangeFacts), move.now);
  return moved;
}

/** Moves one exchange. Throws the refusal when it does not exist, or when its status does not allow the move. */
export async function moveExchange(
  tx: Transaction,
  id: number,
  name: ExchangeMove,
  move: MoveOptions & { readonly locale: Locale },
): Promise<void> {
  const moved = await moveExchanges(tx, [id], name, move);
  if (moved.length > 0) return;
  const exchange = await selectExchange(tx, id, move.userId ?? null);
  if (!exchange) throw mallErrors.exchange_not_found();
  throw mallErrors.cannot_move({ status: labelOf(exchangeStatusLabels, exchange.status, move.locale) });
}
