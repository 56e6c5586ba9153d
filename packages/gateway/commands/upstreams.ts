import type { CommandContext } from '@tradepost/module';
import {
  commandAuthor,
  type GlobalOptions,
  listOf,
  print,
  printJson,
  readSecret,
  table,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError } from 'commander';
import { type UpstreamConfig, upstreamSettings } from '../upstreams/upstream-settings.ts';

const { upstreams: setting } = upstreamSettings;

/** Shows whether a key is configured. `env:NAME` names a variable and is no secret. */
const shownKey = ({ api_key }: UpstreamConfig) => (api_key === '' || api_key.startsWith('env:') ? api_key : '***');

/** Without secrets. Values of headers can be keys as well. */
const viewOf = (upstream: UpstreamConfig) => ({
  ...upstream,
  api_key: shownKey(upstream),
  headers: Object.fromEntries(Object.keys(upstream.headers).map((name) => [name, '***'])),
});

function wholeOrMinus(given: string): number {
  if (!/^-?\d{1,4}$/.test(given)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(given);
}

const envName = (given: string): string => {
  if (!/^[A-Za-z_]\w*$/.test(given)) throw new InvalidArgumentError('It must be the name of an environment variable.');
  return `env:${given}`;
};

type AddOptions = GlobalOptions & {
  keyEnv?: string;
  keyStdin?: boolean;
  models?: string[];
  priority?: number;
  replace?: boolean;
};

async function keyFrom({ keyEnv, keyStdin }: AddOptions): Promise<string> {
  return keyStdin ? readSecret('Key') : (keyEnv ?? '');
}

const add =
  (context: CommandContext) =>
  async (name: string, base_url: string, options: AddOptions, command: Command): Promise<void> => {
    const { keyEnv, keyStdin, models, priority, replace, json, ...rest } = options;
    if (keyEnv !== undefined && keyStdin) command.error('error: give at most one of --key-env and --key-stdin');
    const api_key = await keyFrom(options);
    await context.withRuntime(rest, async ({ settings }) => {
      let replaced = false;
      const after = await settings.update(
        setting,
        (before) => {
          const known = before.find((upstream) => upstream.name === name);
          if (known && !replace) throw new Error(`there is an upstream ${name} already: --replace changes it`);
          replaced = known !== undefined;
          // The schema adds the defaults.
          const upstream = {
            ...known,
            ...{ name, base_url },
            ...(api_key === '' ? {} : { api_key }),
            ...(models ? { models } : {}),
            ...(priority === undefined ? {} : { priority }),
          } as UpstreamConfig;
          return known ? before.map((each) => (each === known ? upstream : each)) : [...before, upstream];
        },
        { by: commandAuthor() },
      );
      const now = after.find((each) => each.name === name)!;
      if (json) return printJson(viewOf(now));
      print(`upstream ${name} ${replaced ? 'changed' : 'added'}: ${now.base_url}, models ${now.models.join(' ')}`);
    });
  };

export function addUpstreams(group: Command, context: CommandContext): void {
  const upstreams = group
    .command('upstream')
    .description('LLM services that the gateway forwards to (the setting gateway.upstreams): list, add, remove');
  withDatabaseOptions(
    upstreams
      .command('list')
      .description('list all upstreams, without their keys')
      .option('--json', 'print JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost gateway upstream list'),
  ).action(({ json, ...options }: GlobalOptions) =>
    context.withRuntime(options, async ({ settings }) => {
      const views = settings.get(setting).map(viewOf);
      if (json) return printJson(views);
      if (views.length === 0) return print('no upstreams');
      print(
        table([
          ['NAME', 'ENABLED', 'PRIORITY', 'KEY', 'ADDRESS', 'MODELS'],
          ...views.map((each) => [
            ...[each.name, each.enabled ? 'yes' : 'no', String(each.priority), each.api_key || '-', each.base_url],
            each.models.join(' '),
          ]),
        ]),
      );
    }),
  );
  withDatabaseOptions(
    upstreams
      .command('add')
      .argument('<name>', 'its name in the gateway')
      .argument('<url>', 'its address including the version, such as https://api.example.com/v1')
      .description('add an upstream; running gateways use it at once, or within 30 s when the message is lost')
      .option('--key-env <name>', 'environment variable of the gateway that holds its key', envName)
      .option('--key-stdin', 'read its key from standard input; it is stored and never printed')
      .option('--models <names>', 'models that it serves, separated by commas; default: all', listOf)
      .option('--priority <number>', 'the lowest is tried first; default: 0', wholeOrMinus)
      .option('--replace', 'change the upstream of this name; options that are not given stay')
      .option('--json', 'print JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost gateway upstream add main https://api.example.com/v1 --key-env MAIN_API_KEY\n' +
          '  $ printf %s "$KEY" | tradepost gateway upstream add spare http://10.0.0.7:8000/v1 --key-stdin --models "qwen*,llama-3"',
      ),
  ).action(add(context));
  withDatabaseOptions(
    upstreams
      .command('remove <name>')
      .description('remove an upstream; requests that it is answering continue')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost gateway upstream remove spare'),
  ).action((name: string, { json, ...options }: GlobalOptions) =>
    context.withRuntime(options, async ({ settings }) => {
      const without = (before: readonly UpstreamConfig[]) => {
        const after = before.filter((upstream) => upstream.name !== name);
        if (after.length === before.length) throw new Error(`there is no upstream ${name}`);
        return after;
      };
      await settings.update(setting, without, { by: commandAuthor() });
      if (json) return printJson({ removed: name });
      print(`upstream ${name} removed`);
    }),
  );
}
