import { parseArgs } from 'node:util';
import startCluster from '../servers/cluster.ts';
import { cleanUp, defer } from './cleanup.ts';

/** `short` within the test suite, `long` with the runner. */
export type Size = 'short' | 'long';

export type Ground = {
  size: Size;
  /** A cluster with the migrated template database. */
  clusterUrl: string;
  progress(line: string): void;
};

export type Outcome = {
  /** What broke, in words; empty when all held. */
  faults: string[];
  /** Why it could not be run here. */
  skipped?: string;
};

export type Scenario<Result extends Outcome> = {
  name: string;
  about: string;
  run(ground: Ground): Promise<Result>;
};

export type Suite<Result extends Outcome> = {
  /** First lines of the help: what is run, and one line of purpose. */
  usage: string;
  /** Lines after the options. */
  notes: string;
  scenarios: readonly Scenario<Result>[];
  /** Run after the chosen ones, whichever these are. */
  closing?: Scenario<Result>;
  /** Result of a scenario that threw, before its fault is added. */
  nothingYet(): Result;
  /** Columns of the table between the name and the seconds: title and value. */
  columns: readonly (readonly [title: string, value: (result: Result) => string | number])[];
  /** The process ends with exit code 1 after this time, whatever hangs. */
  longestMinutes: number;
};

const say = (line: string) => process.stderr.write(`${line}\n`);

type Row<Result> = { scenario: string; seconds: number } & Result;

const resultOf = ({ faults, skipped }: Outcome) =>
  skipped !== undefined ? `skipped: ${skipped}` : faults.length === 0 ? 'held' : `BROKEN (${faults.length})`;

const helpOf = <Result extends Outcome>({ usage, notes, scenarios }: Suite<Result>) => `${usage}

${scenarios.map(({ name, about }) => `  ${name.padEnd(20)} ${about}`).join('\n')}

  --only NAME  one scenario; may be given several times
  --short      as few rounds as in the test suite
  --json       print the result as JSON
  -h, --help   this text

${notes}
Exit codes: 0 all held, 1 something broke, 2 wrong usage.
`;

function tableOf<Result extends Outcome>(rows: readonly Row<Result>[], { columns }: Suite<Result>): string {
  const head = ['scenario', ...columns.map(([title]) => title), 'seconds', 'result'];
  const cells = rows.map((row) => [
    row.scenario,
    ...columns.map(([, value]) => String(value(row))),
    String(row.seconds),
    resultOf(row),
  ]);
  const lines = [head, ...cells];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const isText = (column: number) => column === 0 || column === head.length - 1;
  const padded = (cell: string, column: number) =>
    isText(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  const text = lines.map((line) => line.map(padded).join(' | ').trimEnd());
  const rule = widths.map((width) => '-'.repeat(width)).join('-|-');
  return [text[0], rule, ...text.slice(1)].join('\n');
}

async function runAll<Result extends Outcome>(
  suite: Suite<Result>,
  chosen: readonly Scenario<Result>[],
  size: Size,
): Promise<Row<Result>[]> {
  let clusterUrl = '';
  say('starting PostgreSQL in a temporary folder');
  const provide = (_key: string, value: string) => {
    clusterUrl = value;
  };
  defer(await startCluster({ provide } as never));
  const rows: Row<Result>[] = [];
  for (const { name, about, run } of chosen) {
    say(`${name}: ${about}`);
    const begun = performance.now();
    const ground = { size, clusterUrl, progress: (line: string) => say(`${name}: ${line}`) };
    const outcome = await run(ground).catch((error: unknown): Result => {
      return {
        ...suite.nothingYet(),
        faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
      };
    });
    for (const fault of outcome.faults.slice(0, 20)) say(`${name}: BROKEN ${fault}`);
    rows.push({ scenario: name, seconds: Math.round((performance.now() - begun) / 1000), ...outcome });
    say(`${name}: ${resultOf(outcome)}`);
  }
  return rows;
}

async function main<Result extends Outcome>(suite: Suite<Result>, args: string[]): Promise<number> {
  const wrong = (problem: string): number => {
    process.stderr.write(`${problem}\n\n${helpOf(suite)}`);
    return 2;
  };
  let values: { only?: string[]; short?: boolean; json?: boolean; help?: boolean };
  try {
    ({ values } = parseArgs({
      args,
      options: {
        only: { type: 'string', multiple: true },
        short: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (error) {
    return wrong((error as Error).message);
  }
  if (values.help) {
    process.stdout.write(helpOf(suite));
    return 0;
  }
  const only = values.only ?? [];
  const unknown = only.find((name) => !suite.scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) return wrong(`There is no scenario ${unknown}.`);
  const chosen = only.length > 0 ? suite.scenarios.filter(({ name }) => only.includes(name)) : suite.scenarios;
  const last = suite.closing ? [suite.closing] : [];
  const rows = await runAll(suite, [...chosen, ...last], values.short ? 'short' : 'long');
  const broken = rows.filter(({ faults }) => faults.length > 0).length;
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ scenarios: rows.map((row) => ({ ...row, result: resultOf(row) })), broken }, null, 2)}\n`
      : `\n${tableOf(rows, suite)}\n`,
  );
  return broken > 0 ? 1 : 0;
}

/**
 * Runs the suite as the program of this process, with the arguments of its command line. Undoes what was deferred
 * (processes, folders, databases) on every way out, and ends the process.
 */
export async function runSuite<Result extends Outcome>(suite: Suite<Result>): Promise<void> {
  let ending = false;
  async function end(code: number, reason?: string): Promise<void> {
    if (ending) return;
    ending = true;
    if (reason) say(`${reason}: cleaning up`);
    // What a broken scenario left running must not hold up the end.
    setTimeout(() => process.exit(code), 45_000).unref();
    await cleanUp();
    process.exit(code);
  }
  process.on('SIGINT', () => void end(130, 'interrupted'));
  process.on('SIGTERM', () => void end(143, 'ended'));
  process.on('unhandledRejection', (error) => {
    void end(1, `unhandled: ${error instanceof Error ? error.stack : String(error)}`);
  });
  const { longestMinutes } = suite;
  setTimeout(() => void end(1, `not done within ${longestMinutes} minutes`), longestMinutes * 60_000).unref();
  await end(await main(suite, process.argv.slice(2)));
}
