import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { hasEmbeddedPostgres } from '@tradepost/embedded-postgres';
import type { ChangeActor } from '@tradepost/postgres';
import { type Config, misspeltText, openLog, openRuntime, type Runtime, type Setting } from '@tradepost/runtime';
import { operatorName } from './operator.ts';
import { configOf, type GlobalOptions } from './options.ts';
import { progress } from './output.ts';

/**
 * Opens the runtime for `work` and closes it. A server may run on the same data at the same time. A missing shop is created
 * only with `mayMigrate`: an audit of a mistyped folder would otherwise create an empty shop and find no faults.
 * `isBackground`: the command does the work of the worker, so the change log does not name its user.
 */
export type WithRuntime = <T>(
  options: GlobalOptions,
  work: (runtime: Runtime) => Promise<T>,
  access?: { mayMigrate?: boolean; isBackground?: boolean },
) => Promise<T>;

/** The actor of a command in the change log. The arguments of the command are left out, because they may be secret. */
const actorOf = (action: string): ChangeActor => ({
  source: 'cli',
  staff_id: null,
  name: operatorName(),
  address: '',
  request_id: randomUUID(),
  action,
});

/**
 * `definitionsOf` returns the settings of the modules that a configuration runs. `commandName` returns the name of the command
 * that runs. `version` is the release in the traces of background work.
 */
export function runtimeOpener(
  definitionsOf: (config: Config) => readonly Setting[],
  commandName: () => string,
  version: string,
): WithRuntime {
  return async (options, work, { mayMigrate = false, isBackground = false } = {}) => {
    const { config, misspelt } = configOf(options);
    for (const variable of misspelt) progress(`warning: ${misspeltText(variable)}`);
    if (!mayMigrate && !config.databaseUrl && !(await hasEmbeddedPostgres(join(config.data, 'postgres'))))
      throw new Error(
        `there is no shop in ${config.data}, and DATABASE_URL is not set: give --data, or run the command where the shop was ` +
          'started (tradepost migrate makes a new one)',
      );
    const log = openLog({ level: config.logLevel === 'info' ? 'warn' : config.logLevel });
    const runtime = await openRuntime({
      ...{ config, definitions: definitionsOf(config), log, onProgress: progress },
      checkOnly: !mayMigrate,
      ownStore: true,
      ...(isBackground ? { version } : {}),
      actor: mayMigrate || isBackground ? null : actorOf(commandName()),
    });
    try {
      return await work(runtime);
    } finally {
      await runtime.close();
    }
  };
}
