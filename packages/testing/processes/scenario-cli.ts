import { parseArgs } from 'node:util';
import { table } from '@tradepost/terminal';
import startCluster from '../servers/cluster.ts';
import { cleanUp, defer } from './cleanup.ts';

/** `short`: the rounds of the test suite. `long`: the rounds of the runner without `--short`. */
export type Size = 'short' | 'long';

/** What a scenario gets from the runner. */
export type Environment = {
  size: Size;
  /** A cluster with the migrated template database. */
  clusterUrl: string;
  progress(line: string): void;
};

export type Outcome = {
  /** One line for each broken expectation. Empty when all expectations held. */
  faults: string[];
  /** The reason why the scenario could not run on this machine. */
  skipped?: string;
};

export type Scenario<Result extends Outcome> = {
  name: string;
  about: string;
  run(environment: Environment): Promise<Result>;
};

export type Suite<Result extends Outcome> = {
  /** The first lines of the help: the command and its purpose. */
  usage: string;
  /** The lines of the help after the options. */
  notes: string;
  scenarios: readonly Scenario<Result>[];
  /** Runs after the chosen scenarios, in every run. */
  closing?: Scenario<Result>;
  /** The result of a scenario that threw. Its error is added as a fault. */
  emptyOutcome(): Result;
  /** The columns of the table between the name and the seconds. */
  columns: readonly (readonly [title: string, value: (result: Result) => string | number])[];
  /** After this time the process ends with exit code 1, even if a scenario hangs. */
  timeLimitMinutes: number;
};

const say = (line: string) => process.stderr.write(`${line}\n`);

type Row<Result> = { scenario: string; seconds: number } & Result;

const resultOf = ({ faults, skipped }: Outcome) =>
  skipped !== undefined ? `skipped: ${skipped}` : faults.length === 0 ? 'held' : `BROKEN (${faults.length})`;

const helpOf = <Result extends Outcome>({ usage, notes, scenarios }: Suite<Result>) => `${usage}

${scenarios.map(({ name, about }) => `  ${name.padEnd(20)} ${about}`).join('\n')}

  --only NAME  run one scenario; can be repeated
  --short      run as few rounds as the test suite
  --json       print the result as JSON
  -h, --help   print this text

${notes}
Exit codes: 0 all held, 1 an expectation broke, 2 wrong usage.
`;

function tableOf<Result extends Outcome>(rows: readonly Row<Result>[], { columns }: Suite<Result>): string {
  const head = ['scenario', ...columns.map(([title]) => title), 'seconds', 'result'];
  const cells = rows.map((row) => [
    row.scenario,
    ...columns.map(([, value]) => String(value(row))),
    String(row.seconds),
    resultOf(row),
  ]);
  const isFigure = (column: number) => column > 0 && column < head.length - 1;
  return table([head, ...cells], { alignRight: isFigure });
}

async function runAll<Result extends Outcome>(
  suite: Suite<Result>,
  chosen: readonly Scenario<Result>[],
  size: Size,
): Promise<Row<Result>[]> {
  let clusterUrl = '';
  say('starting PostgreSQL in a temporary directory');
  const provide = (_key: string, value: string) => {
    clusterUrl = value;
  };
  defer(await startCluster({ provide } as never));
  const rows: Row<Result>[] = [];
  for (const { name, about, run } of chosen) {
    say(`${name}: ${about}`);
    const startedAt = performance.now();
    const environment = { size, clusterUrl, progress: (line: string) => say(`${name}: ${line}`) };
    const outcome = await run(environment).catch((error: unknown): Result => {
      return {
        ...suite.emptyOutcome(),
        faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
      };
    });
    for (const fault of outcome.faults.slice(0, 20)) say(`${name}: BROKEN ${fault}`);
    rows.push({ scenario: name, seconds: Math.round((performance.now() - startedAt) / 1000), ...outcome });
    say(`${name}: ${resultOf(outcome)}`);
  }
  return rows;
}

async function main<Result extends Outcome>(suite: Suite<Result>, args: string[]): Promise<number> {
  const reportUsage = (problem: string): number => {
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
    return reportUsage((error as Error).message);
  }
  if (values.help) {
    process.stdout.write(helpOf(suite));
    return 0;
  }
  const only = values.only ?? [];
  const unknown = only.find((name) => !suite.scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) return reportUsage(`There is no scenario ${unknown}.`);
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
 * Runs the suite as the program of this process, with the arguments of the command line. Before it ends the process, it
 * runs the deferred clean-up of processes, directories and databases, also after a signal or an unhandled error.
 */
export async function runSuite<Result extends Outcome>(suite: Suite<Result>): Promise<void> {
  let ending = false;
  async function end(code: number, reason?: string): Promise<void> {
    if (ending) return;
    ending = true;
    if (reason) say(`${reason}: cleaning up`);
    // A hanging clean-up must not delay the end for longer than this.
    setTimeout(() => process.exit(code), 45_000).unref();
    await cleanUp();
    process.exit(code);
  }
  process.on('SIGINT', () => void end(130, 'interrupted'));
  process.on('SIGTERM', () => void end(143, 'terminated'));
  process.on('unhandledRejection', (error) => {
    void end(1, `unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`);
  });
  const { timeLimitMinutes } = suite;
  setTimeout(() => void end(1, `not finished within ${timeLimitMinutes} minutes`), timeLimitMinutes * 60_000).unref();
  await end(await main(suite, process.argv.slice(2)));
}
