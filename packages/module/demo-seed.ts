import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';

/** The number of rows that the demo seed has written. */
export type DemoCounts = { products: number; skus: number; accounts: number };

/** The part of the demo shop that a module adds. The parts run in the order of the modules. */
export type DemoSeed = {
  /** False when the module has data already. The seed writes nothing unless all modules return true. */
  readonly isEmpty?: (sql: Queryable) => Promise<boolean>;
  /** Writes its rows in the transaction of the seed. `fixtures` is the folder with the files of the demo shop. */
  readonly write?: (tx: Transaction, fixtures: string) => Promise<Partial<DemoCounts>>;
  /** Runs after a seed has added goods and committed. */
  readonly finish?: (runtime: Runtime) => Promise<void>;
  /** Runs at every start that may seed, also when the shop is not empty. */
  readonly start?: (runtime: Runtime) => Promise<void>;
};
