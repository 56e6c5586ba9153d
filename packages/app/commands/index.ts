import type { ModuleCommand } from '@tradepost/module';

export const commands: readonly ModuleCommand[] = [
  {
    name: 'start',
    sort: 10,
    description:
      'run the shop: embedded PostgreSQL, migrations, demo data on the first start, API, worker and LLM gateway',
    load: () => import('./start.ts'),
  },
  {
    name: 'demo',
    sort: 20,
    description: 'run a whole purchase over HTTP against a running server, step by step',
    load: () => import('./demo.ts'),
  },
  {
    name: 'migrate',
    sort: 30,
    description: 'apply the migrations of this version to the database',
    load: () => import('./migrate.ts'),
  },
  {
    name: 'seed',
    sort: 40,
    description: 'fill an empty database with the demo shop, or add many orders to any database',
    load: () => import('./seed.ts'),
  },
  {
    name: 'config',
    sort: 50,
    description: 'print the current configuration and the source of each value; secrets are masked',
    standalone: true,
    load: () => import('./config.ts'),
  },
  {
    name: 'settings',
    sort: 60,
    description: 'shop settings: list, get, set, unset, log',
    load: () => import('./settings/settings.ts'),
  },
  {
    name: 'secrets',
    sort: 65,
    description: 'encryption of stored secrets: status, rotate, forget',
    load: () => import('./secrets.ts'),
  },
  {
    name: 'audit',
    sort: 510,
    description: 'check on the live database that stock, orders, payments and jobs agree; changes and locks nothing',
    load: () => import('./audit.ts'),
  },
  {
    name: 'jobs',
    sort: 520,
    description: 'background jobs: list, show, retry, discard',
    load: () => import('./jobs.ts'),
  },
  {
    name: 'events',
    sort: 525,
    description: 'recorded events for messages and webhooks: list, kinds, retry',
    load: () => import('./events.ts'),
  },
  {
    name: 'retention',
    sort: 530,
    description: 'rules that delete old rows after a number of days',
    load: () => import('./retention.ts'),
  },
  {
    name: 'doctor',
    sort: 540,
    description:
      'check the configuration, the platform, the database and each part of the shop, with advice for each finding',
    load: () => import('./doctor.ts'),
  },
  {
    name: 'service',
    sort: 545,
    description: 'run the shop as services of the machine: systemd units',
    load: () => import('./service/service.ts'),
  },
  {
    name: 'bench',
    sort: 620,
    description: 'run a benchmark of this checkout on this machine: orders, purchase, http, scale, boot',
    standalone: true,
    load: () => import('./bench.ts'),
  },
];
