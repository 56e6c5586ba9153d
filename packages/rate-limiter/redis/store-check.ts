import { type KeyKind, type KeyRef, keyKinds, type Limits, rpmOf, type Subject, tpmOf } from '../limits.ts';
import type { LimiterConnection } from './limiter-connection.ts';
import type { Script } from './limiter-script.ts';

/** One log that a request is counted in, with its limits. */
export type Counted = { readonly kind: KeyKind; readonly name: string; readonly rpm: number; readonly tpm: number };
export type Check = {
  readonly subject: Subject;
  readonly limits: Limits;
  readonly tokens: number;
  readonly keys: readonly Counted[];
  /** `performance.now()` when the request arrived. */
  readonly since: number;
};
/**
 * The store's answer for one log. When the request is admitted, `requests` and `tokens` are the remaining amounts. When it is
 * refused, they are the waits in milliseconds; -1: not exceeded.
 */
export type Part = { key: Counted; now: number; admitted: boolean; oldest: number; requests: number; tokens: number };

/** The name of a log in the store. The logs of a user and of its tokens share a slot of a cluster. */
const logName = (prefix: string, kind: KeyKind, key: string | number, user: number | null): string =>
  kind === 'user'
    ? `${prefix}{u${key}}`
    : kind === 'token'
      ? `${prefix}{u${user}}:t${key}`
      : `${prefix}{${kind[0]}:${key}}`;

export const logNameOf = (prefix: string, of: KeyRef): string =>
  logName(prefix, of.kind, of.key, of.kind === 'token' ? of.user : null);

/** The logs that a request is counted in. */
export function countedOf(prefix: string, subject: Subject, limits: Limits): Counted[] {
  const counted: Counted[] = [];
  for (const kind of keyKinds) {
    const key = subject[kind];
    if (key === null) continue;
    const rpm = limits[rpmOf[kind]];
    const tpm = kind === 'ip' ? 0 : limits[tpmOf[kind]];
    if (rpm > 0 || tpm > 0) counted.push({ kind, name: logName(prefix, kind, key, subject.user), rpm, tpm });
  }
  return counted;
}

export type CheckDeps = {
  connection: LimiterConnection;
  script: Script;
  windowMs: number;
  /** Further arguments of the script; tests pass the time here. */
  clockArgs: () => string[];
};

/** Calls the script once. A key must have the same limits in all checks. */
async function callOnce(
  { connection, script, windowMs, clockArgs }: CheckDeps,
  checks: readonly Check[],
): Promise<Part[][]> {
  const indexes = new Map<string, number>();
  const names: string[] = [];
  let limits = String(windowMs);
  let requests = '';
  for (const { keys, tokens } of checks) {
    requests += `,${tokens},${keys.length}`;
    for (const { name, rpm, tpm } of keys) {
      let index = indexes.get(name);
      if (index === undefined) {
        index = names.push(name);
        indexes.set(name, index);
        limits += `,${rpm},${tpm}`;
      }
      requests += `,${index}`;
    }
  }
  const answer = await connection.run(script, names, [`[${limits}${requests}]`, ...clockArgs()]);
  let at = 1 + names.length;
  return checks.map(({ keys }) => {
    const admitted = answer[at] === 1;
    at += 1;
    return keys.map((key) => {
      const part = {
        key,
        now: answer[0]!,
        admitted,
        oldest: answer[indexes.get(key.name)!]!,
        requests: answer[at]!,
        tokens: answer[at + 1]!,
      };
      at += 2;
      return part;
    });
  });
}

/** Checks and charges requests in their order. When a key occurs with other limits, as after a change, a further call is made. */
export async function checkInStore(deps: CheckDeps, checks: readonly Check[]): Promise<Part[][]> {
  const limitsOf = new Map<string, Counted>();
  const other = checks.findIndex(({ keys }) =>
    keys.some((key) => {
      const known = limitsOf.get(key.name) ?? key;
      limitsOf.set(key.name, known);
      return known.rpm !== key.rpm || known.tpm !== key.tpm;
    }),
  );
  if (other < 0) return callOnce(deps, checks);
  return [...(await callOnce(deps, checks.slice(0, other))), ...(await checkInStore(deps, checks.slice(other)))];
}
