import type { CommandContext } from '@tradepost/module';
import { openAddressGuard } from '@tradepost/outbound-http';
import type { Runtime, Write } from '@tradepost/runtime';
import { databaseOptions, type GlobalOptions } from '@tradepost/terminal';
import { InvalidArgumentError } from 'commander';
import type { EndpointDeps } from '../endpoints/manage-endpoints.ts';

export type CommandDeps = Omit<EndpointDeps, 'runtime'> & { readonly runtime: Runtime; readonly write: Write };

/** Opens what the use cases of endpoints need, for one command. */
export const withEndpoints = (
  context: CommandContext,
  options: GlobalOptions,
  work: (deps: CommandDeps) => Promise<void>,
): Promise<void> =>
  context.withRuntime(databaseOptions(options), (runtime) =>
    work({
      runtime,
      guard: openAddressGuard({ allowedNetworks: runtime.config.allowedPrivateNetworks }),
      kinds: context.modulesOf(runtime.config).flatMap((module) => module.events ?? []),
      write: (change) => runtime.sql.begin(change) as ReturnType<typeof change>,
    }),
  );

/** The id of an endpoint. */
export function endpointId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be the number of an endpoint.');
  return Number(text);
}
