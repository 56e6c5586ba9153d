/** The outcome of a write of one object. Throws its refusal, so that the transaction is rolled back. */
export function firstOf<T>(outcomes: readonly (T | Error)[]): T {
  const [outcome] = outcomes;
  if (outcome instanceof Error) throw outcome;
  return outcome as T;
}

/** Whether a request of a batch was accepted. */
export const isAccepted = <T>(outcome: T | Error): outcome is Exclude<T, Error> => !(outcome instanceof Error);
