import { type CommandContext, declaredBy, type RegisterCommand } from '@tradepost/module';
import { type Audit, type AuditResult, auditPassed, runAudits } from '@tradepost/runtime';
import {
  asCalled,
  bold,
  completeWith,
  configOf,
  exitCodes,
  type GlobalOptions,
  green,
  listOf,
  print,
  printJson,
  progress,
  red,
  table,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';

type AuditOptions = GlobalOptions & { only?: string[]; limit: number; at?: Date; list?: boolean };

/** The audits with these names. The name of a package chooses all its audits. */
function chooseAudits(
  audits: readonly Audit[],
  names: readonly string[] | undefined,
  command: Command,
): readonly Audit[] {
  if (!names) return audits;
  const matches = (audit: Audit, name: string) => audit.name === name || audit.name.startsWith(`${name}.`);
  const unknown = names.filter((name) => !audits.some((audit) => matches(audit, name)));
  if (unknown.length > 0) command.error(`error: there is no check ${unknown.join(', ')}: see tradepost audit --list`);
  return audits.filter((audit) => names.some((name) => matches(audit, name)));
}

/** Parses an instant in the form of ISO 8601 with its time zone. */
function instant(text: string): Date {
  const time = z.iso.datetime({ offset: true }).safeParse(text);
  if (!time.success) throw new InvalidArgumentError('It must be a time such as 2026-03-01T03:30:00Z.');
  return new Date(time.data);
}

const verdict = (result: AuditResult) =>
  result.error !== null ? 'not checked' : result.total === 0 ? 'ok' : result.total.toLocaleString('en');

function printResults(results: readonly AuditResult[], limit: number): void {
  print(
    table([
      ['CHECK', 'ROWS', 'MS'],
      ...results.map((result) => [result.name, verdict(result), result.ms.toLocaleString('en')]),
    ]),
  );
  for (const { name, about, rows, total, error } of results.filter((result) => !auditPassed(result))) {
    print(`\n${bold(name)}: ${asCalled(about)}`);
    if (error !== null) print(`  could not be checked: ${error}`);
    for (const row of rows) print(`  ${JSON.stringify(row)}`);
    if (total > rows.length) print(`  and ${(total - rows.length).toLocaleString('en')} more (--limit ${limit})`);
  }
}

const audit =
  (context: CommandContext) =>
  async (options: AuditOptions, command: Command): Promise<void> => {
    const { only, limit, at, list, ...rest } = options;
    const chosen = chooseAudits(declaredBy(context.modulesOf(configOf(rest).config), 'audits'), only, command);
    if (list) {
      if (options.json) return printJson(chosen.map(({ name, about }) => ({ name, about })));
      return print(table([['CHECK', 'WHAT MUST HOLD'], ...chosen.map(({ name, about }) => [name, about])]));
    }
    // For who waits at a terminal. A journal gets the results only.
    const isWatched = process.stderr.isTTY;
    const results = await context.withRuntime(rest, ({ sql }) => {
      let count = 0;
      return runAudits(sql, chosen, {
        limit,
        ...(at ? { at } : {}),
        onResult(result) {
          count += 1;
          if (isWatched) progress(`${count}/${chosen.length} ${result.name}: ${verdict(result)} (${result.ms} ms)`);
        },
      });
    });
    const failed = results.filter((result) => !auditPassed(result)).length;
    if (failed > 0) process.exitCode = exitCodes.failed;
    if (options.json) return printJson({ ok: failed === 0, checks: results });
    printResults(results, limit);
    print(
      failed === 0
        ? `\n${green('clean')}: ${results.length} checks`
        : `\n${red(`${failed} of ${results.length} checks failed`)}`,
    );
  };

/** What `--only` takes: `orders`, and each check such as `orders.amounts`. */
function namesOf(audits: readonly Audit[]): string[] {
  const names = audits.map(({ name }) => name);
  return [...new Set(names.map((name) => name.split('.')[0]!)), ...names];
}

export const register: RegisterCommand = (command, context) => {
  withDatabaseOptions(
    command
      .addOption(
        completeWith(
          new Option('--only <names>', 'checks or packages, comma-separated: orders, inventory.sold').argParser(listOf),
          () => namesOf(declaredBy(context.modules, 'audits')),
        ),
      )
      .addOption(
        new Option('--limit <number>', 'rows to print per check').default(20).argParser(wholeNumber(1, 10_000)),
      )
      .addOption(
        new Option(
          '--at <time>',
          'the time of the data, to which lateness is compared: that of a backup that was restored',
        ).argParser(instant),
      )
      .option('--list', 'print the checks and their rules, without running them')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost audit\n  $ tradepost audit --only orders,inventory --json\n  $ tradepost audit --database-url postgres://shop@replica/shop\n  $ tradepost audit --at 2026-03-01T03:30:00Z\n\n' +
          'In a restored backup work that waited then looks late now, until a worker has run: `backup restore` prints the time for --at.\n\n' +
          'All checks read one snapshot, so orders that are placed during the audit cannot cause false findings.\n\n' +
          'Exit codes: 0 clean, 1 rows were found or a check could not run, 2 wrong usage.',
      ),
  ).action(audit(context));
};
