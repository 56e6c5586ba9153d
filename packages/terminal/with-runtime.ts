import { join } from 'node:path';
import { hasEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { type Config, openLog, openRuntime, type Runtime, type Setting } from '@tradepost/runtime';
import { configOf, type GlobalOptions } from './options.ts';
import { progress } from './output.ts';

/**
 * Opens the runtime for `work` and closes it. A server may run on the same data at the same time. A missing shop is created
 * only with `mayMigrate`: an audit of a mistyped folder would otherwise create an empty shop and find no faults.
 */
export type WithRuntime = <T>(
  options: GlobalOptions,
  work: (runtime: Runtime) => Promise<T>,
  access?: { mayMigrate?: boolean },
) => Promise<T>;

/** `definitionsOf` returns the settings of the modules that a configuration runs. */
export function runtimeOpener(definitionsOf: (config: Config) => readonly Setting[]): WithRuntime {
  return async (options, work, { mayMigrate = false } = {}) => {
    const { config } = configOf(options);
    if (!mayMigrate && !config.databaseUrl && !(await hasEmbeddedPostgres(join(config.data, 'postgres'))))
      throw new Error(
        `there is no shop in ${config.data}: give --data, or run the command where the shop was started ` +
          '(tradepost migrate makes a new one)',
      );
    const log = openLog({ level: config.logLevel === 'info' ? 'warn' : config.logLevel });
    const runtime = await openRuntime({
      ...{ config, definitions: definitionsOf(config), log, onProgress: progress },
      checkOnly: !mayMigrate,
    });
    try {
      return await work(runtime);
    } finally {
      await runtime.close();
    }
  };
}
