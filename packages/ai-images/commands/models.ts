import { type CommandContext, staticEntriesOf } from '@tradepost/module';
import { openAddressGuard } from '@tradepost/outbound-http';
import type { Runtime, Write } from '@tradepost/runtime';
import {
  configOf,
  type GlobalOptions,
  print,
  printJson,
  readSecret,
  table,
  UsageError,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { imageDrivers } from '../drivers/driver.ts';
import { type ModelChange, modelChangeBody } from '../models/model-schemas.ts';
import { selectModel, selectModels } from '../models/model-store.ts';
import { viewOfModel } from '../models/model-view.ts';
import { addModel, changeModel, type ModelDeps, removeModels } from '../models/save-models.ts';

type ModelOptions = GlobalOptions & {
  name?: string;
  driver?: string;
  endpoint?: string;
  model?: string;
  keyStdin?: boolean;
  refImage?: boolean;
  default?: boolean;
  enabled?: boolean;
};

const bitOf = (flag: boolean | undefined) => (flag === undefined ? undefined : flag ? 1 : 0);
const idOf = wholeNumber(1, Number.MAX_SAFE_INTEGER);

const depsOf = (context: CommandContext, options: GlobalOptions, runtime: Runtime): ModelDeps => ({
  runtime,
  drivers: staticEntriesOf(context.modulesOf(configOf(options).config))(imageDrivers),
  guard: openAddressGuard({ allowedNetworks: runtime.config.allowedPrivateNetworks }),
});
const writeOn =
  ({ sql }: Runtime): Write =>
  (work) =>
    sql.begin(work) as never;

/** The change that the options name. Wrong values are wrong usage. */
async function changeOf(deps: ModelDeps, options: ModelOptions, key: string | undefined): Promise<ModelChange> {
  const { name, driver, endpoint, model } = options;
  const given = {
    ...{ name, driver, endpoint, api_key: key },
    ...(model === undefined ? {} : { params: { model } }),
    ...{ supports_ref_image: bitOf(options.refImage), is_default: options.default ? 1 : undefined },
    status: bitOf(options.enabled),
  };
  const { data, error } = modelChangeBody(deps.drivers).safeParse(given);
  if (error) throw new UsageError(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  return data;
}

const withModelOptions = (command: Command): Command =>
  withDatabaseOptions(command)
    .option('--endpoint <url>', 'address of the service with its version; default: that of the driver')
    .option('--model <name>', 'its name at the service, such as gpt-image-1')
    .option('--key-stdin', 'read its key from standard input or a hidden prompt; stored encrypted and never printed')
    .option('--ref-image', 'it takes reference images')
    .option('--default', 'use it where a request names no model')
    .option('--json', 'print the model as JSON');

export function addModels(group: Command, context: CommandContext): void {
  const models = group.command('models').description('image models of AI services: list, add, edit, remove');
  const run =
    (save: (deps: ModelDeps, change: ModelChange, write: Write) => Promise<object>) =>
    async (options: ModelOptions): Promise<void> => {
      const key = options.keyStdin ? await readSecret('Key') : undefined;
      const { name, driver, endpoint, model, keyStdin, refImage, default: _default, enabled, json, ...rest } = options;
      await context.withRuntime(rest, async (runtime) => {
        const deps = depsOf(context, rest, runtime);
        const saved = await save(deps, await changeOf(deps, options, key), writeOn(runtime));
        if (json) return printJson(saved);
        const { id, name: shown, endpoint: at } = saved as { id: number; name: string; endpoint: string };
        print(`model ${id} (${shown}) saved: ${at}`);
      });
    };
  withDatabaseOptions(
    models
      .command('list')
      .description('list all models, without their keys')
      .option('--json', 'print JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost ai models list'),
  ).action(({ json, ...options }: GlobalOptions) =>
    context.withRuntime(options, async ({ sql }) => {
      const views = (await selectModels(sql, { all: true })).map(viewOfModel);
      if (json) return printJson(views);
      if (views.length === 0) return print('no models');
      const rows = views.map((view) => [
        ...[String(view.id), view.name, view.driver, view.status ? 'yes' : 'no', view.is_default ? 'yes' : 'no'],
        ...[view.has_api_key ? '***' : '-', view.endpoint],
      ]);
      print(table([['ID', 'NAME', 'DRIVER', 'ENABLED', 'DEFAULT', 'KEY', 'ENDPOINT'], ...rows]));
    }),
  );
  withModelOptions(
    models
      .command('add')
      .argument('<name>', 'its name in the console')
      .argument('<driver>', 'the protocol of its service, such as openai')
      .description('add a model; the first one becomes the default'),
  )
    .addHelpText('after', '\nExample:\n  $ printf %s "$KEY" | tradepost ai models add Photos openai --key-stdin')
    .action((name: string, driver: string, options: ModelOptions) =>
      run((deps, change, write) => addModel(deps, { ...change, name, driver }, write))({ ...options, name, driver }),
    );
  withModelOptions(
    models.command('edit').argument('<id>', 'its number', idOf).description('change a model: the given options'),
  )
    .option('--name <name>', 'its name in the console')
    .option('--driver <name>', 'the protocol of its service')
    .option('--enabled', 'switch it on')
    .option('--no-enabled', 'switch it off')
    .addHelpText('after', '\nExample:\n  $ tradepost ai models edit 1 --name "Product photos" --default')
    .action((id: number, options: ModelOptions) =>
      run(async (deps, change, write) => {
        const { params } = (await selectModel(deps.runtime.sql, id)) ?? {};
        // The parameters are replaced as a whole, and the options of this command name one of them.
        const merged = change.params ? { ...change, params: { ...params, ...change.params } } : change;
        return changeModel(deps, id, merged, write);
      })(options),
    );
  withDatabaseOptions(
    models
      .command('remove')
      .argument('<id>', 'its number', idOf)
      .description('remove a model; its running tasks fail')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost ai models remove 2'),
  ).action((id: number, { json, ...options }: GlobalOptions) =>
    context.withRuntime(options, async (runtime) => {
      await writeOn(runtime)((tx) => removeModels(tx, [id]));
      if (json) return printJson({ removed: id });
      print(`model ${id} removed`);
    }),
  );
}
