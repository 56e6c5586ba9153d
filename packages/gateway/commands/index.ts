import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'gateway',
    sort: 310,
    description: 'the LLM gateway: API tokens, limits of shoppers, upstreams',
    load: () => import('./gateway.ts'),
  },
  {
    name: 'limiter',
    sort: 320,
    description: 'the rate limiter of the gateway: load-test it, inspect and reset its counts',
    load: () => import('./limiter.ts'),
  },
];
