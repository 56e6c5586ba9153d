import { isoInZone } from '@tradepost/core';
import { orderStatusWriter } from '@tradepost/inventory';
import type { CommandContext } from '@tradepost/module';
import { type Runtime, timeZone } from '@tradepost/runtime';
import {
  bold,
  exitCodes,
  type GlobalOptions,
  print,
  printJson,
  progress,
  table,
  wholeNumber,
  withDatabaseOptions,
  withProgress,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type TaskAction, taskActions } from '../protocol/actions.ts';
import { failTasks, type Managed, retryTasks } from '../tasks/manage-tasks.ts';
import { type TaskStatus, taskStatuses } from '../tasks/task.ts';
import { countTasks, selectTask, selectTasks, type TaskFilter, type TaskRow } from '../tasks/task-list-store.ts';
import { selectTaskEffects, type TaskEffect } from '../tasks/task-report-store.ts';

type ListOptions = GlobalOptions & {
  status?: TaskStatus;
  open?: boolean;
  failed?: boolean;
  action?: TaskAction;
  bizNo?: string;
  limit: number;
};

const isNumber = (text: string) => /^\d{1,15}$/.test(text);

function taskIds(text: string, before: number[] = []): number[] {
  if (!isNumber(text)) throw new InvalidArgumentError('A task id is a whole number.');
  return [...before, Number(text)];
}

const oneLine = (text: string) => text.split('\n')[0]!.slice(0, 120);
const attempts = (task: TaskRow) => `${task.attempt_count}/${task.max_attempts}`;

/** The next event of an open task. */
function nextOf(task: TaskRow, zone: string): string {
  if (task.status === 'pending') return isoInZone(task.next_retry_at, zone);
  if (task.status !== 'processing') return '-';
  return `${task.accepted_at ? 'callback by' : 'answer by'} ${isoInZone(task.next_retry_at, zone)}`;
}

function lastOf({ last_code, last_error }: TaskRow): string {
  const error = oneLine(last_error);
  if (last_code === null || last_code === 0) return error || '-';
  return `${last_code} ${error}`.trim();
}

const list =
  (context: CommandContext) =>
  async ({ status, open, failed, action, bizNo, limit, ...options }: ListOptions, command: Command) => {
    if ([status, open, failed].filter((one) => one !== undefined).length > 1)
      command.error('error: use at most one of --status, --open and --failed');
    const filter: TaskFilter = { status: failed ? 'failed' : status, open, action, biz_no: bizNo };
    const { tasks, total, zone } = await context.withRuntime(options, async ({ sql, settings }) => {
      const [rows, count] = await Promise.all([selectTasks(sql, filter, limit), countTasks(sql, filter)]);
      return { tasks: rows, total: count, zone: settings.get(timeZone) };
    });
    if (options.json) return printJson({ total, tasks });
    if (total === 0) return print('no tasks');
    print(
      table([
        ['ID', 'REQUEST', 'STATUS', 'ATTEMPTS', 'NEXT', 'LAST ANSWER'],
        ...tasks.map((task) => [
          ...[String(task.id), task.request_id, task.status, attempts(task), nextOf(task, zone), lastOf(task)],
        ]),
      ]),
    );
    if (total > tasks.length) print(`\n${tasks.length} of ${total}: --limit shows more`);
  };

const show =
  (context: CommandContext) =>
  async (key: string, options: GlobalOptions): Promise<void> => {
    const { task, zone } = await context.withRuntime(options, async ({ sql, settings }) => ({
      task: await selectTask(sql, isNumber(key) ? Number(key) : key),
      zone: settings.get(timeZone),
    }));
    if (!task) throw new Error(`there is no task ${key}`);
    if (options.json) return printJson(task);
    const at = (moment: Date | null) => (moment ? isoInZone(moment, zone) : '-');
    print(
      table([
        ['id', String(task.id)],
        ['provider', task.provider],
        ['request id', task.request_id],
        ['action', task.action],
        ['document', `${task.biz_type} ${task.biz_no}`],
        ['sequence', task.sequence_key],
        ['mode', task.mode],
        ['status', task.status],
        ['attempts', `${attempts(task)}, ${task.backoff_seconds} s between them`],
        ['next', nextOf(task, zone)],
        ['last code', task.last_code === null ? '-' : String(task.last_code)],
        ['last error', task.last_error || '-'],
        ['lock', task.lock_owner ? `${task.lock_owner} until ${at(task.lock_expires_at)}` : '-'],
        ['accepted', at(task.accepted_at)],
        ['completed', at(task.completed_at)],
        ['last callback', task.last_callback_id ?? '-'],
        ['created', at(task.created_at)],
        ['changed', at(task.updated_at)],
        ['payload', JSON.stringify(task.payload)],
      ]),
    );
    if (task.callbacks.length === 0) return print(`\n${bold('callbacks')}  none`);
    print(`\n${bold('callbacks')}`);
    print(
      table([
        ['ID', 'STATUS', 'OUTCOME', 'SEEN', 'FIRST', 'LAST', 'MESSAGE'],
        ...task.callbacks.map((row) => [
          ...[row.callback_id, row.status, row.outcome, String(row.seen), at(row.received_at), at(row.last_seen_at)],
          oneLine(row.message) || '-',
        ]),
      ]),
    );
  };

/** What an operator must check at the warehouse after a task was failed. */
const manualSteps: Record<TaskAction, string> = {
  reserve: 'the reservation has ended in the shop; release it at the warehouse if it exists there',
  confirm: 'the goods may still be reserved at the warehouse: confirm them there',
  release: 'the goods may still be reserved at the warehouse: release them there',
  deduct: 'the stock at the warehouse may be too high by the quantity that left',
  restore: 'the stock at the warehouse may be too low by the quantity that came back',
  sync_sku: 'the warehouse may not know the SKU, or may have another stock of it',
};

function effectLine(effect: TaskEffect, isFailed: boolean): string {
  const { order_status, following, action } = effect;
  const parts = [
    ...(order_status === null ? [] : [`its order shows ${order_status}`]),
    ...(isFailed ? [manualSteps[action]] : []),
    ...(following > 0 ? [`${following} later ${following > 1 ? 'tasks follow' : 'task follows'}`] : []),
  ];
  return parts.join('; ') || 'it is due now';
}

const shown = 20;

/** Prints the result of each task. The exit code is 1 when a task that the caller named was refused. */
async function report(
  { sql }: Runtime,
  { done, refused }: Managed,
  { verb, named, json }: { verb: 'retried' | 'failed'; named: boolean; json: boolean | undefined },
): Promise<void> {
  if (named && refused.length > 0) process.exitCode = exitCodes.failed;
  const effects = await selectTaskEffects(sql, json ? done : done.slice(0, shown));
  if (json) {
    const reasons = refused.map(({ id, refusal }) => ({ id, code: refusal.code, message: refusal.message }));
    printJson({
      [verb]: effects.map(({ id, request_id, order_status }) => ({ id, request_id, order_status })),
      refused: reasons,
    });
    return;
  }
  for (const { id, refusal } of refused.slice(0, shown)) progress(`task ${id}: ${refusal.message}`);
  if (refused.length > 0) progress(`${refused.length} tasks were not changed`);
  if (done.length === 0) return print(`${verb}: no tasks`);
  print(`${verb}: ${done.length}`);
  print(table(effects.map((effect) => [`  ${effect.id}`, effect.request_id, effectLine(effect, verb === 'failed')])));
  if (done.length > effects.length) print(`  and ${done.length - effects.length} more`);
}

const retry =
  (context: CommandContext) =>
  async (ids: number[], { failed, ...options }: GlobalOptions & { failed?: boolean }, command: Command) => {
    const named = ids.length > 0;
    if (named === (failed === true)) command.error('error: use either task ids, or --failed');
    await context.withRuntime(options, async (runtime) => {
      const deps = { runtime, writeOrderStatus: orderStatusWriter(context.modulesOf(runtime.config)) };
      const managed = await withProgress(
        () => 'retrying failed tasks',
        () => retryTasks(deps, named ? ids : { failed: true }),
      );
      await report(runtime, managed, { verb: 'retried', named, json: options.json });
    });
  };

const fail =
  (context: CommandContext) =>
  async (ids: number[], { reason, ...options }: GlobalOptions & { reason: string }, command: Command) => {
    if (reason.trim() === '') command.error('error: --reason must not be empty');
    await context.withRuntime(options, async (runtime) => {
      const deps = { runtime, writeOrderStatus: orderStatusWriter(context.modulesOf(runtime.config)) };
      const managed = await failTasks(deps, ids, reason.trim());
      await report(runtime, managed, { verb: 'failed', named: true, json: options.json });
    });
  };

export function addTasks(group: Command, context: CommandContext): void {
  const tasks = group.command('tasks').description('tasks for the external warehouse: list, show, retry, fail');
  withDatabaseOptions(
    tasks
      .command('list')
      .description('list tasks, newest first')
      .addOption(new Option('--status <status>', 'only tasks in this state').choices(taskStatuses))
      .option('--open', 'only tasks that have not ended: pending and processing')
      .option('--failed', 'only tasks that the warehouse has refused or never answered')
      .addOption(new Option('--action <action>', 'only tasks with this action').choices(taskActions))
      .option('--biz-no <number>', 'only tasks of this order or document')
      .addOption(
        new Option('--limit <number>', 'the most tasks to list').default(50).argParser(wholeNumber(1, 100_000)),
      )
      .option('--json', 'print the tasks as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost wms tasks list --failed\n  $ tradepost wms tasks list --open --action reserve --json\n  $ tradepost wms tasks list --biz-no 1772358600000000001',
      ),
  ).action(list(context));
  withDatabaseOptions(
    tasks
      .command('show')
      .argument('<id|request_id>', 'id of the task, or its request id')
      .description('show a task with its payload and its callbacks')
      .option('--json', 'print the task as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost wms tasks show 4711\n  $ tradepost wms tasks show order:1772358600000000001:reserve\n\nExit code 1 when the task does not exist.',
      ),
  ).action(show(context));
  withDatabaseOptions(
    tasks
      .command('retry')
      .argument('[id...]', 'ids of failed tasks', taskIds, [])
      .description(
        'deliver failed tasks again, with the same request id and all attempts; their orders are pending again',
      )
      .option('--failed', 'all failed tasks that no later task of the same document forbids')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost wms tasks retry 4711 4712\n  $ tradepost wms tasks retry --failed\n\n' +
          'Each task is decided separately. Exit code 1 when a task that was named is refused.',
      ),
  ).action(retry(context));
  withDatabaseOptions(
    tasks
      .command('fail')
      .argument('<id...>', 'ids of open tasks', taskIds)
      .description('fail open tasks: they are not delivered any more, and their orders show failed')
      .requiredOption('--reason <text>', 'the reason; stored with the task')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExample:\n  $ tradepost wms tasks fail 4711 --reason "shipped by hand, reported by telephone"\n\n' +
          'What the warehouse has already done is not undone; the report says what to check there. A later task of the same\n' +
          'document is delivered next. Each task is decided separately. Exit code 1 when a task is refused.',
      ),
  ).action(fail(context));
}
