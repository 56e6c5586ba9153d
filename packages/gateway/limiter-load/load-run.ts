import type { Findings } from './findings.ts';
import type { Pace } from './pace.ts';
import type { Tally } from './tally.ts';

/** A run that has begun. Its figures can be read at any time. */
export type LoadRun = {
  readonly target: 'embedded' | 'redis' | 'redis-cluster' | 'gateway';
  readonly tally: Tally;
  readonly pace: Pace;
  /** Wrong decisions found so far. */
  wrong(): { readonly overAdmissions: number; readonly falseRefusals: number };
  readonly done: Promise<Findings>;
};
