import { instantInZone } from '@tradepost/core';
import type { CommandContext } from '@tradepost/module';
import { type Runtime, timeZone } from '@tradepost/runtime';
import {
  type GlobalOptions,
  print,
  printJson,
  table,
  UsageError,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { type DeliveryStatus, deliveryStatuses } from '../deliveries/delivery.ts';
import { selectDeliveries, selectDelivery } from '../delivery-log/delivery-list-store.ts';
import { replayDeliveries } from '../delivery-log/replay-deliveries.ts';
import { selectEndpoints } from '../endpoints/endpoint-store.ts';
import { webhookErrors } from '../errors.ts';
import { maxCounted, maxReplayedByCommand } from '../limits.ts';
import { attemptView, deliveryView } from '../views.ts';
import { endpointId, withEndpoints } from './endpoint-deps.ts';

type ListOptions = GlobalOptions & { endpoint?: number; status?: DeliveryStatus; type?: string; limit: number };
type ReplayOptions = GlobalOptions & { failed?: boolean; since?: string; until?: string };

async function showOne({ sql, settings }: Runtime, id: number, json: boolean | undefined): Promise<void> {
  const row = await selectDelivery(sql, id);
  if (!row) throw webhookErrors.delivery_not_found();
  const zone = settings.get(timeZone);
  const [view, log] = [deliveryView(row, zone), row.log.map((attempt) => attemptView(attempt, zone))];
  if (json) return printJson({ ...view, body: row.body, log });
  print(
    table([...Object.entries(view), ['body', row.body]].map(([key, value]) => [String(key), String(value ?? '-')])),
  );
  const attempts = log.map(({ started_at, status, duration_ms, error, answer }) => [
    ...[started_at, String(status), `${duration_ms} ms`, error || '-', answer.split('\n')[0]!.slice(0, 120)],
  ]);
  if (attempts.length > 0) print(`\n${table([['STARTED', 'STATUS', 'TOOK', 'ERROR', 'ANSWER'], ...attempts])}`);
}

const list = (context: CommandContext) => (id: number | undefined, options: ListOptions) =>
  withEndpoints(context, options, async ({ runtime }) => {
    if (id !== undefined) return showOne(runtime, id, options.json);
    const filter = { endpoint_id: options.endpoint, status: options.status, kind: options.type };
    const { rows, total } = await selectDeliveries(runtime.sql, filter, { size: options.limit, offset: 0 });
    const zone = runtime.settings.get(timeZone);
    const views = rows.map((row) => deliveryView(row, zone));
    if (options.json) return printJson({ total, deliveries: views });
    if (views.length === 0) return print('no deliveries');
    const cells = views.map((view) => [
      ...[String(view.id), String(view.endpoint_id), view.webhook_id, view.type, view.subject, view.status],
      ...[String(view.attempts), view.next_attempt_at ?? '-', view.last_error || '-'],
    ]);
    print(
      table([['ID', 'ENDPOINT', 'EVENT', 'TYPE', 'SUBJECT', 'STATUS', 'ATTEMPTS', 'NEXT', 'LAST ERROR'], ...cells]),
    );
    const all = total === maxCounted ? `${total} or more` : String(total);
    if (views.length < total) print(`\n${views.length} of ${all}: --limit shows more`);
  });

const replay = (context: CommandContext) => (id: number, options: ReplayOptions) =>
  withEndpoints(context, options, async ({ runtime, write }) => {
    const zone = runtime.settings.get(timeZone);
    const momentOf = (name: string, text: string | undefined) => {
      if (text === undefined) return undefined;
      const at = instantInZone(text, zone, 'start');
      if (!at) throw new UsageError(`--${name} ${text}: must be a date, or a date and time`);
      return at;
    };
    const [since, until] = [momentOf('since', options.since), momentOf('until', options.until)];
    if (!options.failed && !since) throw new UsageError('give --failed, or --since');
    if ((await selectEndpoints(runtime.sql, [id])).length === 0) throw webhookErrors.endpoint_not_found();
    const filter = { failed: options.failed, since, until };
    // One transaction for each part: deliveries end between them.
    let [replayed, after, more] = [0, 0, true];
    while (more && replayed < maxReplayedByCommand) {
      const part = await write((tx) => replayDeliveries(tx, id, { ...filter, after }, runtime.now()));
      replayed += part.replayed;
      ({ more, last_event_id: after } = part);
    }
    if (options.json) return printJson({ replayed, more });
    print(`replayed: ${replayed}${more ? '; further ones may match, run it again' : ''}`);
  });

export function addDeliveries(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('deliveries')
      .argument('[id]', 'number of a delivery: show it with its body and its attempts', wholeNumber(1, 10 ** 15))
      .description('deliveries, the newest event first, or one with its attempts')
      .option('--endpoint <id>', 'only deliveries to this endpoint', endpointId)
      .addOption(new Option('--status <status>', 'only deliveries in this state').choices(deliveryStatuses))
      .option('--type <kind>', 'only events of this kind, for example order.paid')
      .addOption(
        new Option('--limit <number>', 'the most deliveries to list').default(50).argParser(wholeNumber(1, 10_000)),
      )
      .option('--json', 'print them as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost webhooks deliveries --endpoint 1 --status failed\n  $ tradepost webhooks deliveries 4711',
      ),
  ).action(list(context));
  withDatabaseOptions(
    group
      .command('replay')
      .argument('<id>', 'number of the endpoint', endpointId)
      .description('send ended deliveries of an endpoint again, with the same ids and all attempts')
      .option('--failed', 'only deliveries that have used all attempts')
      .option('--since <time>', 'of events from this time on, in the time zone of the shop')
      .option('--until <time>', 'of events before this time')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost webhooks replay 1 --failed\n' +
          '  $ tradepost webhooks replay 1 --since 2026-03-01 --until 2026-03-02\n\n' +
          'At most 100,000 deliveries for each call. A receiver that counts ids ignores those that it has.',
      ),
  ).action(replay(context));
}
