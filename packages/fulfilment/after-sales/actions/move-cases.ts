import { lockOrdersForAfterSale, type OrderWithLines } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import type { AfterSaleCase, LogDetails, Operator } from '../cases/case.ts';
import { type CaseFacts, eventOfMove, itemFacts } from '../cases/case-events.ts';
import { isEnded, type MoveName, moveOf } from '../cases/case-moves.ts';
import { selectCaseOrderIds, selectCases } from '../cases/case-store.ts';
import { type CaseChange, type CaseValues, updateCases } from '../cases/case-write-store.ts';
import { afterSaleErrors } from '../errors.ts';
import { isAccepted } from '../write-one.ts';
import { endOrders } from './end-orders.ts';

/** The refusal of a move from a state that the table does not allow. */
const refusals: Record<MoveName, () => Error> = {
  approve: afterSaleErrors.cannot_audit,
  reject: afterSaleErrors.cannot_audit,
  return_ship: afterSaleErrors.cannot_return,
  receive: afterSaleErrors.cannot_receive,
  refund: afterSaleErrors.cannot_refund,
  reship: afterSaleErrors.cannot_reship,
  complete: afterSaleErrors.cannot_complete,
  close: afterSaleErrors.cannot_close,
};

/** A case with its order. The order is locked until the transaction ends, so no other transaction moves the case. */
export type LockedCase = AfterSaleCase & { readonly order: OrderWithLines };

/** A request for one case. `operator` is written to the log. */
export type CaseRequest = { readonly case_id: number; readonly operator: Operator };

/** What a move writes besides the status. */
type Effect = { readonly values?: CaseValues; readonly details?: LogDetails };
type Moving<R> = { readonly found: LockedCase; readonly request: R; readonly effect: Effect };

type Options<R> = {
  readonly move: MoveName;
  readonly now: Date;
  /** Checks that the request may name this case, before its state is checked. Default: the case must exist. */
  readonly find?: (found: LockedCase | undefined, request: R) => LockedCase | Error;
  /** Decides one request, under the lock. */
  readonly decide?: (found: LockedCase, request: R) => Effect | Error;
  /** Writes what must happen with the move, before it. An error refuses this one request. */
  readonly prepare?: (moving: readonly Moving<R>[]) => Promise<readonly (true | Error)[]>;
};

/** Locks the orders of these cases and reads the cases. The order of the locks is: order, then payment, then stock. */
async function lockCases(tx: Transaction, ids: readonly number[]): Promise<ReadonlyMap<number, LockedCase>> {
  const orderIds = await selectCaseOrderIds(tx, ids);
  if (orderIds.length === 0) return new Map();
  const locked = await lockOrdersForAfterSale(tx, orderIds);
  const orders = new Map(locked.map((order) => [order.id, order]));
  const cases = await selectCases(tx, ids);
  return new Map(cases.map((row) => [row.id, { ...row, order: orders.get(row.order_id)! }]));
}

/**
 * Moves cases by the table of transitions, writes their logs, and gives the orders whose last open case has ended their
 * status back. When two requests name one case, the first one counts. Returns for each request its case as it was before
 * the move, or its refusal.
 */
export async function moveCases<R extends CaseRequest>(
  tx: Transaction,
  requests: readonly R[],
  { move, now, find = (found) => found ?? afterSaleErrors.case_not_found(), decide = () => ({}), prepare }: Options<R>,
): Promise<(LockedCase | Error)[]> {
  const cases = await lockCases(tx, [...new Set(requests.map((request) => request.case_id))]);
  const taken = new Set<number>();
  const decided = requests.map((request): Moving<R> | Error => {
    const found = find(cases.get(request.case_id), request);
    if (found instanceof Error) return found;
    if (!moveOf(move).from.includes(found.status) || taken.has(found.id)) return refusals[move]();
    const effect = decide(found, request);
    if (effect instanceof Error) return effect;
    taken.add(found.id);
    return { found, request, effect };
  });
  const wanted = decided.filter(isAccepted);
  const prepared = wanted.length > 0 ? await prepare?.(wanted) : undefined;
  const refused = new Map(
    wanted.flatMap((moving, index) => {
      const outcome = prepared?.[index] ?? true;
      return outcome === true ? [] : [[moving, outcome] as const];
    }),
  );
  const moving = wanted.filter((one) => !refused.has(one));
  if (moving.length > 0) {
    await Promise.all([
      updateCases(
        tx,
        moving.map((one) => changeOf(one, move)),
        now,
      ),
      recordEvents(tx, eventOfMove[move], moving.map(factsOf), now),
    ]);
    const ended = moving.filter(({ found }) => isEnded(moveOf(move).to[found.case_type]));
    if (ended.length > 0)
      await endOrders(
        tx,
        ended.map(({ found, request }) => ({ order: found.order, operator: request.operator })),
        now,
      );
  }
  return decided.map((outcome) => {
    if (outcome instanceof Error) return outcome;
    return refused.get(outcome) ?? outcome.found;
  });
}

function factsOf({ found, request, effect }: Moving<CaseRequest>): CaseFacts {
  const { id: case_id, case_no, case_type, order_id, user_id } = found;
  const refund_amount = effect.values?.refund_amount ?? found.refund_amount;
  const { order_no } = found.order;
  const operator = request.operator.type;
  const items = itemFacts(found.order, found.items);
  return { case_id, case_no, case_type, order_id, order_no, user_id, refund_amount, operator, items };
}

function changeOf({ found, request, effect }: Moving<CaseRequest>, name: MoveName): CaseChange {
  const { action, to } = moveOf(name);
  return {
    id: found.id,
    from_status: found.status,
    to_status: to[found.case_type],
    action,
    operator: request.operator,
    values: effect.values ?? {},
    details: effect.details ?? {},
  };
}
