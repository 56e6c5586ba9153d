import { z } from 'zod';

export const serviceNames = ['kuaidi100', 'kdniao'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** timeout: no answer. garbage: an answer that is not of the protocol. error: HTTP 502. refuse: nothing is known. regress: the first state of the shipment again. */
export const faultKinds = ['timeout', 'garbage', 'error', 'refuse', 'regress'] as const;
export type FaultKind = (typeof faultKinds)[number];

const rate = () => z.number().min(0).max(1).default(0);

/** The options that can change while the simulator runs. */
const behaviourSchema = z
  .strictObject({
    /** Pause before each answer. */
    latencyMs: z.number().int().min(0).max(600_000).default(0),
    timeoutRate: rate(),
    garbageRate: rate(),
    errorRate: rate(),
    refuseRate: rate(),
    regressRate: rate(),
    /** The services that have faults. */
    faultsOf: z.array(z.enum(serviceNames)).default([...serviceNames]),
  })
  .refine((of) => of.timeoutRate + of.garbageRate + of.errorRate + of.refuseRate + of.regressRate <= 1, {
    error: 'the rates add up to more than 1',
  });
export type Behaviour = Readonly<z.infer<typeof behaviourSchema>>;
export type BehaviourOptions = Partial<Behaviour>;

/** The options of `given`, with `current` as defaults. Returns the faults when the result is not valid. */
export function changedBehaviour(
  given: object,
  current: BehaviourOptions = {},
): { behaviour: Behaviour } | { faults: string[] } {
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { data, error } = behaviourSchema.safeParse({ ...current, ...known });
  if (data) return { behaviour: data };
  return { faults: error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')) };
}

/**
 * Chooses the faults of queries. A rate of 0.25 makes every fourth query fail, and the same ones in every run.
 */
export function openFaults(behaviour: () => Behaviour) {
  const owed = new Map<FaultKind, number>();
  return (service: ServiceName): FaultKind | null => {
    const { faultsOf, ...rates } = behaviour();
    if (!faultsOf.includes(service)) return null;
    for (const kind of faultKinds) owed.set(kind, (owed.get(kind) ?? 0) + rates[`${kind}Rate`]);
    // Rates are sums of fractions, so one may be a rounding error below 1.
    const due = faultKinds.find((kind) => owed.get(kind)! >= 1 - 1e-9);
    if (due) owed.set(due, owed.get(due)! - 1);
    return due ?? null;
  };
}
