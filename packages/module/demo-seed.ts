import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';

/** How many rows the demo seed has written. */
export type DemoCounts = { products: number; skus: number; accounts: number };

/** What a module adds to the demo shop. The parts of all modules run in the order of the modules. */
export type DemoSeed = {
  /** False where the module has data that the demo shop must not be added to. Nothing is seeded unless every module says true. */
  readonly isEmpty?: (sql: Queryable) => Promise<boolean>;
  /** Writes its rows in the one transaction of the seed. `fixtures` is the folder with the files of the demo shop. */
  readonly write?: (tx: Transaction, fixtures: string) => Promise<Partial<DemoCounts>>;
  /** Runs after goods were added by a seed and committed. */
  readonly finish?: (runtime: Runtime) => Promise<void>;
  /** Runs at every start that may seed, whether the shop was empty or not. */
  readonly start?: (runtime: Runtime) => Promise<void>;
};
