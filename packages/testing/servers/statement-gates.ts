/** What the proxy does when the statement of a gate arrives. */
export type GateAction = 'pause' | 'cut before' | 'cut after';
/** A statement by its number since the gate was set (the first is 1), or the first statement whose text matches. */
export type Boundary = number | RegExp;

export type Gate = {
  /** Resolves with the text of the statement when it is held, or when its connection is broken. */
  reached: Promise<string>;
  /** Releases a held statement. Removes the gate if its statement has not arrived. */
  go(): void;
  /** The statements that arrived so far, oldest first. */
  seen: readonly string[];
};

type ArmedGate = Gate & {
  readonly action: GateAction;
  readonly at: Boundary;
  seen: string[];
  reach(text: string): void;
};

/** Statements that no use case sends: the driver asks for types on a new connection, and keys are released after a fault. */
const ignored = /pg_catalog\.pg_type|delete from runtime\.idempotency_keys|set instance = ''/;
export const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

export type Gates = ReturnType<typeof openGates>;

/** At most one gate is armed. It applies to the statements of all watched connections. */
export function openGates() {
  let armed: ArmedGate | null = null;
  let held: (() => void)[] = [];
  return {
    arm(at: Boundary, action: GateAction): Gate {
      const { promise: reached, resolve: reach } = Promise.withResolvers<string>();
      const gate: ArmedGate = {
        ...{ at, action, seen: [], reach, reached },
        go() {
          if (armed === gate) armed = null;
          for (const release of held.splice(0)) release();
        },
      };
      armed = gate;
      return gate;
    },
    /** Counts the statement. Returns the gate that applies to it, which is then no longer armed. */
    match(statement: string): ArmedGate | null {
      if (!armed || ignored.test(statement)) return null;
      const text = oneLine(statement);
      armed.seen.push(text);
      const gate = armed;
      const applies = typeof gate.at === 'number' ? gate.seen.length === gate.at : gate.at.test(text);
      if (!applies) return null;
      armed = null;
      return gate;
    },
    /** `release` runs when the test calls `go`. */
    hold(release: () => void): void {
      held.push(release);
    },
    /** Forgets held statements without releasing them. */
    clear(): void {
      held = [];
    },
  };
}
