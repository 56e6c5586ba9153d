import { parseArgs } from 'node:util';
import { cleanUp, defer } from '../bench/cleanup.ts';
import startCluster from '../harness/cluster.ts';
import { raceScenarios } from './race-scenarios.ts';
import { nothingYet, type Outcome, type Scenario, type Size } from './scenario.ts';
import { scenarios } from './scenarios.ts';

const all: readonly Scenario[] = [...scenarios, ...raceScenarios];

const help = `Usage: npm run faults -- [--only NAME] [--short] [--json]

Breaks the shop on purpose and looks whether its books are still right: after every scenario all audits must be clean.

${all.map(({ name, about }) => `  ${name.padEnd(20)} ${about}`).join('\n')}

  --only NAME  one scenario; may be given several times
  --short      as few rounds as in the test suite
  --json       print the result as JSON
  -h, --help   this text

Everything runs on this machine on loopback, on databases in temporary folders, which are removed at the end, also on Ctrl-C.
Exit codes: 0 all held, 1 something broke, 2 wrong usage.
`;

/** Nothing takes longer: a hung run ends here. */
const longestMinutes = 20;
const say = (line: string) => process.stderr.write(`${line}\n`);

type Row = { scenario: string; seconds: number } & Outcome;
const resultOf = ({ faults, skipped }: Outcome) =>
  skipped !== undefined ? `skipped: ${skipped}` : faults.length === 0 ? 'held' : `BROKEN (${faults.length})`;

function tableOf(rows: readonly Row[]): string {
  const head = ['scenario', 'rounds', 'requests', 'confirmed', 'refused', 'audit ms', 'seconds', 'result'];
  const cells = rows.map((row) => [
    row.scenario,
    ...[row.rounds, row.requests, row.confirmed, row.refused, row.auditMs, row.seconds].map(String),
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

async function runAll(chosen: readonly Scenario[], size: Size): Promise<Row[]> {
  let clusterUrl = '';
  say('starting PostgreSQL in a temporary folder');
  const provide = (_key: string, value: string) => {
    clusterUrl = value;
  };
  defer(await startCluster({ provide } as never));
  const rows: Row[] = [];
  for (const { name, about, run } of chosen) {
    say(`${name}: ${about}`);
    const begun = performance.now();
    const ground = { size, clusterUrl, progress: (line: string) => say(`${name}: ${line}`) };
    const outcome = await run(ground).catch((error: unknown): Outcome => {
      return { ...nothingYet(), faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
    });
    for (const fault of outcome.faults.slice(0, 20)) say(`${name}: BROKEN ${fault}`);
    rows.push({ scenario: name, seconds: Math.round((performance.now() - begun) / 1000), ...outcome });
    say(`${name}: ${resultOf(outcome)}`);
  }
  return rows;
}

function usage(problem: string): number {
  process.stderr.write(`${problem}\n\n${help}`);
  return 2;
}

async function main(args: string[]): Promise<number> {
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
    return usage((error as Error).message);
  }
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const only = values.only ?? [];
  const unknown = only.find((name) => !all.some((scenario) => scenario.name === name));
  if (unknown !== undefined) return usage(`There is no scenario ${unknown}.`);
  const chosen = only.length > 0 ? all.filter(({ name }) => only.includes(name)) : all;
  const rows = await runAll(chosen, values.short ? 'short' : 'long');
  const broken = rows.filter(({ faults }) => faults.length > 0).length;
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ scenarios: rows.map((row) => ({ ...row, result: resultOf(row) })), broken }, null, 2)}\n`
      : `\n${tableOf(rows)}\n`,
  );
  return broken > 0 ? 1 : 0;
}

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
setTimeout(() => void end(1, `not done within ${longestMinutes} minutes`), longestMinutes * 60_000).unref();
await end(await main(process.argv.slice(2)));
