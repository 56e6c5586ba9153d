import type { Findings } from './findings.ts';
import type { Pace } from './pace.ts';
import type { Tally } from './tally.ts';

/** A run under way: whoever shows it reads the figures whenever they like. */
export type LoadRun = {
  readonly target: 'embedded' | 'redis' | 'redis-cluster' | 'gateway';
  readonly tally: Tally;
  readonly pace: Pace;
  /** Found so far. */
  wrong(): { readonly overAdmissions: number; readonly falseRefusals: number };
  readonly done: Promise<Findings>;
};
