import { modulesOf } from '@tradepost/app';
import { openModules } from '@tradepost/module';
import { noRest } from '@tradepost/runtime';
import type { Shop } from './shop.ts';

/** Gives the events of a shop that runs no worker to the readers of its modules. */
export async function dispatchEvents(shop: Shop): Promise<void> {
  const { loops, close } = await openModules(shop.server.runtime, modulesOf(shop.server.runtime.config));
  try {
    for (const { run } of loops) await run(new AbortController().signal, noRest);
  } finally {
    await close();
  }
}
