import type { CommandContext } from '@tradepost/module';
import { meantText, timeZone } from '@tradepost/runtime';
import {
  exitCodes,
  type GlobalOptions,
  listOf,
  print,
  printJson,
  progress,
  table,
  UsageError,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { sendTest } from '../deliveries/send-test.ts';
import type { Endpoint, EndpointFields } from '../endpoints/endpoint.ts';
import { selectCounts, selectEndpoints } from '../endpoints/endpoint-store.ts';
import { addEndpoint, changeEndpoint, deleteEndpoint, rotateSecret } from '../endpoints/manage-endpoints.ts';
import { maxDescription, maxKinds, maxOverlapHours, maxUrl } from '../limits.ts';
import { attemptView, endpointView } from '../views.ts';
import { type CommandDeps, endpointId, withEndpoints } from './endpoint-deps.ts';

type EditOptions = GlobalOptions & { url?: string; description?: string; events?: string[] };

async function viewsOf({ runtime }: CommandDeps, endpoints: readonly Endpoint[]) {
  const ids = endpoints.map(({ id }) => id);
  const counts = await selectCounts(runtime.sql, ids);
  const zone = runtime.settings.get(timeZone);
  return endpoints.map((endpoint) => endpointView(endpoint, counts.get(endpoint.id), zone));
}

const stateOf = ({ enabled, disabled_reason: reason, failing_since: since }: Endpoint): string => {
  if (enabled) return since ? 'failing' : 'enabled';
  return reason === '' ? 'disabled' : `disabled (${reason})`;
};

const list = (context: CommandContext) => (options: GlobalOptions) =>
  withEndpoints(context, options, async (deps) => {
    const endpoints = await selectEndpoints(deps.runtime.sql, null);
    const views = await viewsOf(deps, endpoints);
    if (options.json) return printJson(views);
    if (views.length === 0) return print('no endpoints');
    const rows = views.map((view, index) => [
      ...[String(view.id), stateOf(endpoints[index]!), String(view.waiting), String(view.failed)],
      ...[view.event_kinds.join(',') || 'all', view.url, view.description],
    ]);
    print(table([['ID', 'STATE', 'WAITING', 'FAILED', 'EVENTS', 'URL', 'DESCRIPTION'], ...rows]));
  });

/** The bounds of the API, for the options. */
function fieldsOf({ url, description, events }: EditOptions): Partial<EndpointFields> {
  if (url !== undefined && url.length > maxUrl) throw new UsageError(`url: at most ${maxUrl} characters`);
  if (description !== undefined && description.length > maxDescription)
    throw new UsageError(`--description: at most ${maxDescription} characters`);
  if (events !== undefined && events.length > maxKinds) throw new UsageError(`--events: at most ${maxKinds} kinds`);
  const kinds = events?.includes('all') ? [] : events;
  return {
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(kinds === undefined ? {} : { event_kinds: kinds }),
  };
}

/** Refuses kinds of events that no module has, by the name of the option. */
function refuseUnknown({ kinds }: CommandDeps, { events = [] }: EditOptions): void {
  const known = kinds.map(({ name }) => name);
  const unknown = events.find((event) => event !== 'all' && !known.includes(event));
  if (unknown !== undefined)
    throw new UsageError(
      `--events: there is no event ${unknown}${meantText(unknown, known)}; tradepost events kinds lists them`,
    );
}

/** The secret alone goes to standard output, all else to standard error. */
function printSecret({ id, url }: Endpoint, secret: string, json: boolean | undefined): void {
  if (json) printJson({ id, url, secret });
  else {
    progress(`endpoint ${id}; its secret is shown once:`);
    print(secret);
  }
}

const add = (context: CommandContext) => (url: string, options: EditOptions) =>
  withEndpoints(context, options, async (deps) => {
    refuseUnknown(deps, options);
    const fields = { description: '', event_kinds: [], enabled: true, ...fieldsOf({ ...options, url }), url };
    const { endpoint, secret } = await addEndpoint(deps, deps.write, fields);
    printSecret(endpoint, secret, options.json);
  });

const change =
  (context: CommandContext, fieldsFor: (options: EditOptions) => Partial<EndpointFields>) =>
  (id: number, options: EditOptions) =>
    withEndpoints(context, options, async (deps) => {
      const fields = fieldsFor(options);
      if (Object.keys(fields).length === 0) throw new UsageError('give --url, --description or --events');
      refuseUnknown(deps, options);
      const endpoint = await changeEndpoint(deps, deps.write, id, fields);
      const [view] = await viewsOf(deps, [endpoint]);
      if (options.json) return printJson(view);
      print(`endpoint ${id}: ${stateOf(endpoint)}, ${endpoint.url}`);
    });

const remove = (context: CommandContext) => (id: number, options: GlobalOptions) =>
  withEndpoints(context, options, async (deps) => {
    await deleteEndpoint(deps, deps.write, id);
    if (options.json) return printJson({ removed: id });
    print(`removed: endpoint ${id}`);
  });

const rotate = (context: CommandContext) => (id: number, options: GlobalOptions & { overlapHours: number }) =>
  withEndpoints(context, options, async (deps) => {
    const order = { id, overlapHours: options.overlapHours };
    const { endpoint, secret } = await rotateSecret(deps, deps.write, order);
    printSecret(endpoint, secret, options.json);
  });

const testEndpoint = (context: CommandContext) => (id: number, options: GlobalOptions) =>
  withEndpoints(context, options, async (deps) => {
    const attempt = await sendTest(deps, id);
    if (attempt.error !== '') process.exitCode = exitCodes.failed;
    const view = attemptView(attempt, deps.runtime.settings.get(timeZone));
    if (options.json) return printJson(view);
    print(`${attempt.error || `HTTP ${attempt.status}`}, after ${attempt.duration_ms} ms`);
    if (attempt.answer !== '') print(attempt.answer);
  });

const editable = (command: Command): Command =>
  command
    .option('--description <text>', 'a note for people')
    .option('--events <kinds>', 'kinds of events, comma-separated (tradepost events kinds); all for all kinds', listOf)
    .option('--json', 'print the result as JSON');

export function addEndpoints(group: Command, context: CommandContext): void {
  const command = (name: string, description: string, example: string, note = '') =>
    withDatabaseOptions(
      group
        .command(name)
        .description(description)
        .addHelpText('after', `\nExample:\n  $ tradepost webhooks ${example}${note === '' ? '' : `\n\n${note}`}`),
    );
  const secretNote = 'The secret alone goes to standard output, all else to standard error.';
  const unknownNote = 'Exit code 1 when there is no such endpoint.';
  const ofOne = (name: string, description: string) =>
    command(name, description, `${name} 1`, unknownNote)
      .argument('<id>', 'number of the endpoint', endpointId)
      .option('--json', 'print the result as JSON');

  command('list', 'endpoints with their state and their waiting and failed deliveries', 'list')
    .option('--json', 'print them as JSON')
    .action(list(context));
  editable(
    command(
      'add',
      'add an endpoint; its secret is printed once',
      'add https://erp.example/hooks --events order.paid,order.shipped',
      secretNote,
    ).argument('<url>', 'http or https, on a public address (or one of ALLOWED_PRIVATE_NETWORKS)'),
  ).action(add(context));
  editable(
    command('edit', 'change an endpoint', 'edit 1 --events all', unknownNote)
      .argument('<id>', 'number of the endpoint', endpointId)
      .option('--url <url>', 'the new address'),
  ).action(change(context, fieldsOf));
  ofOne('remove', 'remove an endpoint; what waits for it is not sent').action(remove(context));
  ofOne('enable', 'send to an endpoint again, first what waits').action(change(context, () => ({ enabled: true })));
  ofOne('disable', 'stop sending to an endpoint; later events are not kept for it').action(
    change(context, () => ({ enabled: false })),
  );
  command('rotate-secret', 'replace the secret of an endpoint; it is printed once', 'rotate-secret 1', secretNote)
    .argument('<id>', 'number of the endpoint', endpointId)
    .addOption(
      new Option('--overlap-hours <n>', 'hours for which the previous secret signs too; 0 ends it now')
        .default(24)
        .argParser(wholeNumber(0, maxOverlapHours)),
    )
    .option('--json', 'print the secret as JSON')
    .action(rotate(context));
  command('test', 'send a test message to an endpoint now', 'test 1', 'Exit code 1 when it is not accepted.')
    .argument('<id>', 'number of the endpoint', endpointId)
    .option('--json', 'print the result as JSON')
    .action(testEndpoint(context));
}
