import type { Minor } from '@tradepost/core';

type Account = 'earnings' | 'available' | 'frozen' | 'withdrawn' | 'debt';

/** The sums of a locked distributor, in minor units. `debt_amount` is what was taken back and could not be paid yet. */
export type Balance = {
  readonly id: number;
  readonly user_id: number;
  readonly status: 'pending' | 'active' | 'disabled';
  readonly deleted_at: Date | null;
  total_earnings: Minor;
  available_amount: Minor;
  frozen_amount: Minor;
  withdrawn_amount: Minor;
  debt_amount: Minor;
  total_orders: number;
};

/** The name of a move, which is unique for ever, and what it is about. */
type Cause = { readonly move: string; readonly commission_id?: number; readonly withdrawal_id?: number };

type LedgerRow = {
  readonly move: string;
  readonly distributor_id: number;
  readonly account: Account;
  readonly amount: Minor;
  readonly commission_id: number | null;
  readonly withdrawal_id: number | null;
};

/** Moves of money between the accounts of locked distributors, decided in memory. The rows of each move add up to 0. */
export type Ledger = {
  balance(distributorId: number): Balance | undefined;
  /** A commission is earned: earnings -> available. Counts an order. */
  earn(distributorId: number, amount: Minor, cause: Cause): void;
  /** A commission is taken back. What is not available any more becomes a debt. */
  takeBack(distributorId: number, amount: Minor, cause: Cause): void;
  /** A commission is cancelled after it was earned: all that is left of it is taken back, and its order does not count. */
  cancel(distributorId: number, amount: Minor, cause: Cause): void;
  /** available -> frozen. The caller has checked the available amount. */
  freeze(distributorId: number, amount: Minor, cause: Cause): void;
  /** frozen -> withdrawn */
  payOut(distributorId: number, amount: Minor, cause: Cause): void;
  /** frozen -> available */
  release(distributorId: number, amount: Minor, cause: Cause): void;
  readonly rows: readonly LedgerRow[];
  /** The distributors whose sums changed. */
  changed(): readonly Balance[];
};

/** What becomes available first pays the debt. */
function credit({ debt_amount }: Balance, amount: Minor): Partial<Record<Account, Minor>> {
  const debt = Math.min(debt_amount, amount);
  return { debt, available: amount - debt };
}

export function openLedger(balances: readonly Balance[]): Ledger {
  const byId = new Map(balances.map((balance) => [balance.id, { ...balance }]));
  const touched = new Set<number>();
  const rows: LedgerRow[] = [];
  const post = (id: number, cause: Cause, of: (balance: Balance) => Partial<Record<Account, Minor>>) => {
    const balance = byId.get(id);
    if (!balance) throw new Error(`distributor ${id} is not locked`);
    const { move, commission_id = null, withdrawal_id = null } = cause;
    const amounts = of(balance);
    touched.add(id);
    balance.total_earnings -= amounts.earnings ?? 0;
    balance.available_amount += amounts.available ?? 0;
    balance.frozen_amount += amounts.frozen ?? 0;
    balance.withdrawn_amount += amounts.withdrawn ?? 0;
    balance.debt_amount -= amounts.debt ?? 0;
    for (const [account, amount] of Object.entries(amounts) as [Account, Minor][])
      if (amount !== 0) rows.push({ move, distributor_id: id, account, amount, commission_id, withdrawal_id });
    return balance;
  };
  const takeBack = (id: number, amount: Minor, cause: Cause) =>
    post(id, cause, ({ available_amount }) => {
      const paid = Math.min(available_amount, amount);
      return { earnings: amount, available: -paid, debt: paid - amount };
    });
  return {
    rows,
    balance: (id) => byId.get(id),
    earn(id, amount, cause) {
      const balance = post(id, cause, (before) => ({ earnings: -amount, ...credit(before, amount) }));
      balance.total_orders += 1;
    },
    takeBack: (id, amount, cause) => void takeBack(id, amount, cause),
    cancel(id, amount, cause) {
      takeBack(id, amount, cause).total_orders -= 1;
    },
    freeze: (id, amount, cause) => void post(id, cause, () => ({ available: -amount, frozen: amount })),
    payOut: (id, amount, cause) => void post(id, cause, () => ({ frozen: -amount, withdrawn: amount })),
    release: (id, amount, cause) => void post(id, cause, (before) => ({ frozen: -amount, ...credit(before, amount) })),
    changed: () => [...byId.values()].filter(({ id }) => touched.has(id)),
  };
}
