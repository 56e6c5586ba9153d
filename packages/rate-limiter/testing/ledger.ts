import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dimension, dimensions, type KeyKind, keyKinds, type Limits } from '../limits.ts';
import type { AnsweredCheck, Job, SentCheck } from './limiter-process.ts';

/** A check with its answer. The answer is missing when the process was killed before it wrote it. */
export type CheckRecord = SentCheck & Partial<Omit<AnsweredCheck, 'id'>>;

const script = join(import.meta.dirname, 'limiter-process.ts');
const ended = (child: ChildProcess) =>
  child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve([child.exitCode]);

/** Runs several processes that check at the same time. Returns the checks of all. */
export async function runProcesses(
  job: Omit<Job, 'seed' | 'file'>,
  options: { processes: number; killOneAfterMs?: number },
): Promise<CheckRecord[]> {
  const directory = mkdtempSync(join(tmpdir(), 'tradepost-limiter-'));
  const children: ChildProcess[] = [];
  try {
    const files = Array.from({ length: options.processes }, (_, i) => join(directory, `${i}.log`));
    await Promise.all(
      files.map(async (file, i) => {
        const childJob: Job = { ...job, seed: (i + 1) * 7_919, file };
        const child = spawn(process.execPath, [script, JSON.stringify(childJob)], {
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        children.push(child);
        await Promise.race([
          once(child.stdout!, 'data'),
          once(child, 'exit').then(([code]) => {
            throw new Error(`a limiter process ended with ${code}`);
          }),
        ]);
      }),
    );
    for (const child of children) child.stdin!.write('go\n');
    if (options.killOneAfterMs !== undefined) {
      await sleep(options.killOneAfterMs);
      children[0]!.kill('SIGKILL');
    }
    await Promise.all(children.map(ended));
    const byId = new Map<string, CheckRecord>();
    for (const file of files)
      for (const line of readFileSync(file, 'utf8').split('\n')) {
        // The last line of a killed process can be incomplete.
        if (!line.endsWith('}')) continue;
        const read = JSON.parse(line) as SentCheck | AnsweredCheck;
        byId.set(read.id, { ...byId.get(read.id), ...read } as CheckRecord);
      }
    return [...byId.values()];
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

type Charge = { readonly from: number; readonly to: number; readonly tokens: number };
const kindOf = (dimension: Dimension) => dimension.slice(0, dimension.indexOf('_')) as KeyKind;
const amount = (dimension: Dimension, charges: readonly { tokens: number }[]) =>
  charges.reduce((sum, { tokens }) => sum + (dimension.endsWith('rpm') ? 1 : tokens), 0);

/** A check that a killed process had sent is executed within this time. */
const executedWithinMs = 500;

/** Compares the verdicts of many processes: finds requests that were admitted or refused wrongly. */
export function openLedger(
  records: readonly CheckRecord[],
  { windowMs, limits }: { windowMs: number; limits: Limits },
) {
  const charges = new Map<string, Charge[]>();
  const maybe = new Map<string, Charge[]>();
  const nameOf = (kind: KeyKind, record: CheckRecord) => `${kind} ${record.subject[kind]}`;
  const chargesOf = (map: Map<string, Charge[]>, name: string) => {
    const found = map.get(name) ?? [];
    map.set(name, found);
    return found;
  };
  for (const record of records)
    for (const kind of keyKinds) {
      const { verdict, sentAt, tokens } = record;
      if (record.subject[kind] === null) continue;
      const name = nameOf(kind, record);
      if (!verdict) chargesOf(maybe, name).push({ from: sentAt, to: sentAt + executedWithinMs, tokens });
      else if (verdict.admitted) chargesOf(charges, name).push({ from: verdict.at, to: verdict.at, tokens });
    }
  const keysOf = (record: CheckRecord) =>
    dimensions.filter((dimension) => record.subject[kindOf(dimension)] !== null && limits[dimension] > 0);

  return {
    /**
     * Windows that contain more than the limit. `by`: the time of the charge. It is the millisecond of the answer, or, when
     * that is the time of another server, some moment between call and answer.
     */
    overAdmissions(kinds: readonly KeyKind[], by: 'answer' | 'between' = 'answer'): string[] {
      const faults: string[] = [];
      const admitted = records.filter(({ verdict }) => verdict?.admitted);
      for (const dimension of dimensions) {
        const kind = kindOf(dimension);
        if (!kinds.includes(kind) || limits[dimension] === 0) continue;
        const byKey = Map.groupBy(
          admitted.filter(({ subject }) => subject[kind] !== null),
          (record) => nameOf(kind, record),
        );
        for (const [name, group] of byKey) {
          const spans = group.map(({ verdict, sentAt, answeredAt, tokens }) =>
            by === 'answer'
              ? { from: verdict!.at, to: verdict!.at, tokens }
              : { from: sentAt, to: answeredAt!, tokens },
          );
          for (const { from } of spans) {
            const together = spans.filter((span) => span.from >= from && span.to < from + windowMs);
            const used = amount(dimension, together);
            if (used > limits[dimension]) faults.push(`${dimension} of ${name}: ${used} from ${from} on`);
          }
        }
      }
      return faults;
    },
    /** Refusals that the admitted requests do not explain, also when all of the same millisecond are counted. */
    falseRefusals(): string[] {
      const faults: string[] = [];
      for (const record of records) {
        const { verdict, cached, sentAt, tokens } = record;
        if (!verdict || verdict.admitted) continue;
        const at = cached ? sentAt : verdict.at;
        const explained = keysOf(record).some((dimension) => {
          const name = nameOf(kindOf(dimension), record);
          const counted = [...(charges.get(name) ?? []), ...(maybe.get(name) ?? [])].filter(
            ({ from, to }) => from <= at && to + windowMs > at,
          );
          return amount(dimension, counted) + amount(dimension, [{ tokens }]) > limits[dimension];
        });
        if (!explained) faults.push(`${cached ? 'cached' : 'checked'} ${JSON.stringify(record)}`);
      }
      return faults;
    },
    /** Waits that are outside the range that the log gives before and after the millisecond of the refusal. */
    wrongWaits(): string[] {
      const faults: string[] = [];
      for (const record of records) {
        const { verdict, cached, tokens } = record;
        if (!verdict || verdict.admitted || cached || verdict.waitMs === null) continue;
        const { at } = verdict;
        const waitWith = (counted: readonly Charge[], dimension: Dimension) => {
          const moments = [at, ...counted.map(({ from }) => from + windowMs)].sort((a, b) => a - b);
          const fits = (when: number) => {
            const left = counted.filter(({ from }) => from + windowMs > when);
            return amount(dimension, left) + amount(dimension, [{ tokens }]) <= limits[dimension];
          };
          return moments.find((when) => when >= at && fits(when))! - at;
        };
        const longest = (upTo: number) =>
          Math.max(
            ...keysOf(record).map((dimension) =>
              waitWith(
                (charges.get(nameOf(kindOf(dimension), record)) ?? []).filter(
                  ({ from }) => from <= upTo && from + windowMs > at,
                ),
                dimension,
              ),
            ),
          );
        const [least, most] = [longest(at - 1), longest(at)];
        if (verdict.waitMs < least || verdict.waitMs > most)
          faults.push(`${least} to ${most} ms, got ${JSON.stringify(record)}`);
      }
      return faults;
    },
  };
}
