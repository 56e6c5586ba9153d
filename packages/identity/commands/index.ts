import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'staff',
    sort: 110,
    description: 'administrators: create, passwd, disable, enable, list',
    load: () => import('./staff.ts'),
  },
  {
    name: 'token',
    sort: 120,
    description: 'login tokens and their keys: rotate, issue, inspect, revoke',
    load: () => import('./token.ts'),
  },
  {
    name: 'messages',
    sort: 130,
    description: 'messages to shoppers: list, retry',
    load: () => import('./messages.ts'),
  },
];
