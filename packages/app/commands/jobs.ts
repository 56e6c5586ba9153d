import { isoInZone } from '@tradepost/core';
import type { CommandContext, RegisterCommand } from '@tradepost/module';
import {
  discardJobs,
  type JobFilter,
  type JobRow,
  type JobState,
  retryJobs,
  selectJob,
  selectJobs,
  timeZone,
} from '@tradepost/runtime';
import {
  databaseOptions,
  exitCodes,
  type GlobalOptions,
  print,
  printJson,
  progress,
  table,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';

type FilterOptions = GlobalOptions & { task?: string; failed?: boolean; waiting?: boolean; running?: boolean };

function filterOf({ task, failed, waiting, running }: FilterOptions): JobFilter {
  const flags: Record<JobState, boolean | undefined> = { failed, waiting, running };
  return { task, states: (Object.keys(flags) as JobState[]).filter((state) => flags[state]) };
}

function jobId(text: string): number {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id))
    throw new InvalidArgumentError('It must be the number of a job.');
  return id;
}
const jobIds = (text: string, before: number[] = []): number[] => [...before, jobId(text)];

const attempts = (job: JobRow) => `${job.attempts}/${job.max_attempts}`;
const nextRun = (job: JobRow, zone: string) =>
  job.state === 'failed'
    ? '-'
    : job.state === 'running'
      ? `since ${isoInZone(job.locked_at ?? job.run_at, zone)}`
      : isoInZone(job.run_at, zone);
const firstLine = (text: string | null) => (text ?? '').split('\n')[0]!.slice(0, 120);

const list =
  (context: CommandContext) =>
  async (options: FilterOptions & { limit: number }): Promise<void> => {
    await context.withRuntime(databaseOptions(options), async ({ sql, settings }) => {
      const { jobs, total } = await selectJobs(sql, filterOf(options), options.limit);
      if (options.json) return printJson({ total, jobs });
      if (total === 0) return print('no jobs');
      const zone = settings.get(timeZone);
      print(
        table([
          ['ID', 'TASK', 'STATE', 'ATTEMPTS', 'NEXT RUN', 'LAST ERROR'],
          ...jobs.map((job) => [
            String(job.id),
            job.task,
            job.state,
            attempts(job),
            nextRun(job, zone),
            firstLine(job.last_error),
          ]),
        ]),
      );
      if (total > jobs.length) print(`\n${jobs.length} of ${total}: --limit shows more`);
    });
  };

const show =
  (context: CommandContext) =>
  async (id: number, options: GlobalOptions): Promise<void> => {
    await context.withRuntime(options, async ({ sql, settings }) => {
      const job = await selectJob(sql, id);
      if (!job) throw new Error(`there is no job ${id}: it is done, or it never existed`);
      if (options.json) return printJson(job);
      const zone = settings.get(timeZone);
      print(
        table([
          ['task', job.task],
          ['state', job.state],
          ['attempts', attempts(job)],
          ['next run', nextRun(job, zone)],
          ['created', isoInZone(job.created_at, zone)],
          ['changed', isoInZone(job.updated_at, zone)],
          ...(job.key ? [['key', job.key]] : []),
          ...(job.locked_by ? [['worker', job.locked_by]] : []),
          ['payload', JSON.stringify(job.payload)],
          ['last error', job.last_error ?? '-'],
        ]),
      );
    });
  };

type Changed = { changed: number[]; unknown: number[]; running: number[] };

/** Prints the result. A job that was named and could not be changed is a failure. */
function report(done: string, { changed, unknown, running }: Changed, named: boolean, json: boolean | undefined): void {
  const refused = named && (unknown.length > 0 || running.length > 0);
  if (refused) process.exitCode = exitCodes.failed;
  if (json) {
    printJson({ [done]: changed, unknown, running });
    return;
  }
  for (const id of unknown) progress(`job ${id}: it is done, or it never existed`);
  for (const id of running) progress(`job ${id}: runs in a worker`);
  if (refused) throw new Error('nothing was changed');
  print(
    `${done}: ${changed.length === 0 ? 'no jobs' : `${changed.length} (${changed.slice(0, 20).join(', ')}${changed.length > 20 ? ', ...' : ''})`}`,
  );
}

type RetryOptions = GlobalOptions & { failed?: boolean; task?: string };

const retry =
  (context: CommandContext) =>
  async (ids: number[], options: RetryOptions, command: Command): Promise<void> => {
    const { failed, task } = options;
    const named = ids.length > 0;
    if (named === (failed === true || task !== undefined))
      command.error('error: give either job numbers, or --failed and/or --task');
    const choice = named ? { ids } : { filter: filterOf({ task, failed }) };
    await context.withRuntime(databaseOptions(options), async ({ sql }) =>
      report('retried', await retryJobs(sql, choice), named, options.json),
    );
  };

const discard =
  (context: CommandContext) =>
  async (ids: number[], options: GlobalOptions): Promise<void> => {
    await context.withRuntime(options, async ({ sql }) =>
      report('discarded', await discardJobs(sql, ids), true, options.json),
    );
  };

export const register: RegisterCommand = (group, context) => {
  const task = () => new Option('--task <name>', 'only jobs of this task, for example orders.expire');
  withDatabaseOptions(
    group
      .command('list')
      .description('jobs that wait, run or have failed; a job that is done is removed')
      .option('--failed', 'only jobs that have used all attempts')
      .option('--waiting', 'only jobs that are due now or later')
      .option('--running', 'only jobs that a worker runs')
      .addOption(task())
      .addOption(
        new Option('--limit <number>', 'maximum number of jobs to print')
          .default(50)
          .argParser(wholeNumber(1, 100_000)),
      )
      .option('--json', 'print them as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost jobs list --failed\n  $ tradepost jobs list --task orders.expire --json',
      ),
  ).action(list(context));
  withDatabaseOptions(
    group
      .command('show')
      .argument('<id>', 'number of the job', jobId)
      .description('one job with its payload and its whole last error')
      .option('--json', 'print it as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost jobs show 4711\n\nExit code 1 when there is no such job.'),
  ).action(show(context));
  withDatabaseOptions(
    group
      .command('retry')
      .argument('[id...]', 'numbers of the jobs', jobIds, [])
      .description('make jobs due now and reset their attempts')
      .option('--failed', 'all jobs that have used all attempts')
      .addOption(task())
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost jobs retry 4711 4712\n  $ tradepost jobs retry --failed --task orders.expire\n\n' +
          'Exit code 1 when a number is unknown or its job is running; then nothing is changed.',
      ),
  ).action(retry(context));
  withDatabaseOptions(
    group
      .command('discard')
      .argument('<id...>', 'numbers of the jobs', jobIds)
      .description('remove jobs without running them; read them first (jobs show)')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExample:\n  $ tradepost jobs discard 4711\n\nExit code 1 when a number is unknown or its job is running; then nothing is changed.',
      ),
  ).action(discard(context));
};
