/** Transition tables are data: `{ 1: [2, 6], 2: [3, 5] }`. */
export type Moves<S extends PropertyKey> = Readonly<Record<S, readonly S[]>>;

/** The states from which `to` may be reached: what a guarded update puts into `status = any(...)`. */
export function statesBefore<S extends string | number>(moves: Moves<S>, to: S, all: readonly S[]): S[] {
  return all.filter((from) => moves[from].includes(to));
}
