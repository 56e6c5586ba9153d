import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dimension, dimensions, type KeyKind, keyKinds, type Limits } from '../limits.ts';
import type { Job, Question, Told } from './limiter-process.ts';

/** A question with its answer; none where the process was killed before it could write it down. */
export type Asking = Question & Partial<Omit<Told, 'id'>>;

const script = join(import.meta.dirname, 'limiter-process.ts');
const ended = (child: ChildProcess) =>
  child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve([child.exitCode]);

/** Lets so many processes ask at the same time; what all of them have written. */
export async function runProcesses(
  job: Omit<Job, 'seed' | 'file'>,
  options: { processes: number; killOneAfterMs?: number },
): Promise<Asking[]> {
  const directory = mkdtempSync(join(tmpdir(), 'tradepost-limiter-'));
  const children: ChildProcess[] = [];
  try {
    const files = Array.from({ length: options.processes }, (_, i) => join(directory, `${i}.log`));
    await Promise.all(
      files.map(async (file, i) => {
        const mine: Job = { ...job, seed: (i + 1) * 7_919, file };
        const child = spawn(process.execPath, [script, JSON.stringify(mine)], { stdio: ['pipe', 'pipe', 'inherit'] });
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
    const askings = new Map<string, Asking>();
    for (const file of files)
      for (const line of readFileSync(file, 'utf8').split('\n')) {
        // The last line of a process that was killed may be half of one.
        if (!line.endsWith('}')) continue;
        const read = JSON.parse(line) as Question | Told;
        askings.set(read.id, { ...askings.get(read.id), ...read } as Asking);
      }
    return [...askings.values()];
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}

type Charge = { readonly from: number; readonly to: number; readonly tokens: number };
const kindOf = (dimension: Dimension) => dimension.slice(0, dimension.indexOf('_')) as KeyKind;
const amount = (dimension: Dimension, charges: readonly { tokens: number }[]) =>
  charges.reduce((sum, { tokens }) => sum + (dimension.endsWith('rpm') ? 1 : tokens), 0);

/** Longer after its death nobody carries out what a killed process had sent. */
const afterlifeMs = 500;

/** What many processes were told, laid side by side: what must not have been admitted, and what must not have been refused. */
export function openLedger(askings: readonly Asking[], { windowMs, limits }: { windowMs: number; limits: Limits }) {
  const charges = new Map<string, Charge[]>();
  const maybe = new Map<string, Charge[]>();
  const nameOf = (kind: KeyKind, asking: Asking) => `${kind} ${asking.subject[kind]}`;
  const chargesOf = (map: Map<string, Charge[]>, name: string) => {
    const found = map.get(name) ?? [];
    map.set(name, found);
    return found;
  };
  for (const asking of askings)
    for (const kind of keyKinds) {
      const { verdict, asked, tokens } = asking;
      if (asking.subject[kind] === null) continue;
      const name = nameOf(kind, asking);
      if (!verdict) chargesOf(maybe, name).push({ from: asked, to: asked + afterlifeMs, tokens });
      else if (verdict.admitted) chargesOf(charges, name).push({ from: verdict.at, to: verdict.at, tokens });
    }
  const keysOf = (asking: Asking) =>
    dimensions.filter((dimension) => asking.subject[kindOf(dimension)] !== null && limits[dimension] > 0);

  return {
    /**
     * Windows that hold more than the limit. `by` says when a request was charged on the key: at the millisecond of the
     * answer, or (where that is another server's) at some time between question and answer.
     */
    overAdmissions(kinds: readonly KeyKind[], by: 'answer' | 'between' = 'answer'): string[] {
      const faults: string[] = [];
      const admitted = askings.filter(({ verdict }) => verdict?.admitted);
      for (const dimension of dimensions) {
        const kind = kindOf(dimension);
        if (!kinds.includes(kind) || limits[dimension] === 0) continue;
        const byKey = Map.groupBy(
          admitted.filter(({ subject }) => subject[kind] !== null),
          (asking) => nameOf(kind, asking),
        );
        for (const [name, group] of byKey) {
          const spans = group.map(({ verdict, asked, answered, tokens }) =>
            by === 'answer' ? { from: verdict!.at, to: verdict!.at, tokens } : { from: asked, to: answered!, tokens },
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
    /** Refusals that nothing of what was admitted explains, also counting all of the same millisecond. */
    falseRefusals(): string[] {
      const faults: string[] = [];
      for (const asking of askings) {
        const { verdict, cached, asked, tokens } = asking;
        if (!verdict || verdict.admitted) continue;
        const at = cached ? asked : verdict.at;
        const explained = keysOf(asking).some((dimension) => {
          const name = nameOf(kindOf(dimension), asking);
          const counted = [...(charges.get(name) ?? []), ...(maybe.get(name) ?? [])].filter(
            ({ from, to }) => from <= at && to + windowMs > at,
          );
          return amount(dimension, counted) + amount(dimension, [{ tokens }]) > limits[dimension];
        });
        if (!explained) faults.push(`${cached ? 'cached' : 'asked'} ${JSON.stringify(asking)}`);
      }
      return faults;
    },
    /** Waits that are neither what the log was before the refusal's millisecond, nor after it, nor between. */
    wrongWaits(): string[] {
      const faults: string[] = [];
      for (const asking of askings) {
        const { verdict, cached, tokens } = asking;
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
            ...keysOf(asking).map((dimension) =>
              waitWith(
                (charges.get(nameOf(kindOf(dimension), asking)) ?? []).filter(
                  ({ from }) => from <= upTo && from + windowMs > at,
                ),
                dimension,
              ),
            ),
          );
        const [least, most] = [longest(at - 1), longest(at)];
        if (verdict.waitMs < least || verdict.waitMs > most)
          faults.push(`${least} to ${most} ms, told ${JSON.stringify(asking)}`);
      }
      return faults;
    },
  };
}
