import { z } from 'zod';

/**
 * rate_limit: HTTP 429. error: HTTP 500. policy: the prompt is refused (HTTP 400). broken: JSON that is cut off. hang: no
 * answer. redirect: to another address of this machine. huge: an answer without an end. not_image: a PDF file instead of a picture.
 * private_url: a picture at that address. empty: no picture. picture_busy: a picture at an address that answers HTTP 503 once. The faults `task_...` are of services with tasks, and other services
 * draw: task_failed: the task ends with a fault of the service. task_policy: it ends with a refusal. task_endless: it never ends.
 * task_busy: the first question for its end gets HTTP 500.
 */
export const faultKinds = [
  ...(['rate_limit', 'error', 'policy', 'broken', 'hang', 'redirect', 'huge', 'not_image', 'private_url'] as const),
  ...(['empty', 'picture_busy', 'task_failed', 'task_policy', 'task_endless', 'task_busy'] as const),
] as const;
export type FaultKind = (typeof faultKinds)[number];

const behaviourSchema = z
  .strictObject({
    /** Pause before each answer. */
    latencyMs: z.number().int().min(0).max(600_000).default(0),
    /** How pictures are answered: inside the answer, or by an address of the simulator. */
    answers: z.enum(['b64_json', 'url']).default('b64_json'),
    /** Shares of the requests that have a fault. */
    faults: z.partialRecord(z.enum(faultKinds), z.number().min(0).max(1)).default({}),
  })
  .refine(({ faults }) => Object.values(faults).reduce((sum, rate) => sum + rate, 0) <= 1, {
    error: 'the rates add up to more than 1',
  });
export type Behaviour = Readonly<z.infer<typeof behaviourSchema>>;
export type BehaviourOptions = Partial<Behaviour>;

/** The options of `given`, with `current` as defaults. Returns the problems when the result is not valid. */
export function changedBehaviour(
  given: object,
  current: BehaviourOptions = {},
): { behaviour: Behaviour } | { problems: string[] } {
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { data, error } = behaviourSchema.safeParse({ ...current, ...known });
  if (data) return { behaviour: data };
  return { problems: error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')) };
}

/** Chooses the faults of requests. A rate of 0.25 makes every fourth request fail, and the same ones in every run. */
export function openFaults(behaviour: () => Behaviour) {
  const owed = new Map<FaultKind, number>();
  return (): FaultKind | null => {
    for (const kind of faultKinds) owed.set(kind, (owed.get(kind) ?? 0) + (behaviour().faults[kind] ?? 0));
    // Rates are sums of fractions, so one may be a rounding error below 1.
    const due = faultKinds.find((kind) => owed.get(kind)! >= 1 - 1e-9);
    if (due) owed.set(due, owed.get(due)! - 1);
    return due ?? null;
  };
}
