import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'simulate',
    group: 'pay',
    sort: 255,
    description: 'run simulated payment services: WeChat Pay, Alipay and Stripe',
    standalone: true,
    load: () => import('./simulate.ts'),
  },
];
