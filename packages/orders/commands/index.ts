import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'orders',
    sort: 215,
    description: 'export orders as a CSV file, import those of an older shop',
    load: () => import('./orders.ts'),
  },
  {
    name: 'pay',
    sort: 220,
    description: 'payments: notices, refunds, reconciliation with the payment providers',
    load: () => import('../payments/commands/pay.ts'),
  },
];
