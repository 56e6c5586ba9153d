import { isBucket } from '@tradepost/backup';
import type { Placement } from './placement.ts';

/** A program that systemd runs: as a service, or on a schedule. */
export type Unit = {
  /** The name for `--only`. The file is `tradepost-<name>`, except for the whole shop. */
  readonly name: string;
  readonly file: string;
  readonly about: string;
  /** The command line behind Node. `%i` is the instance of a template. */
  readonly run: (at: Placement) => string;
  /** Port of its admin listener. `ready.ts` asks it during the start. */
  readonly adminPort?: string;
  /** Whether it serves requests behind a proxy, so that it drains before it stops. */
  readonly drains?: boolean;
  /** Memory above which the kernel ends it. */
  readonly memory: string;
  /** A program of a timer: when it runs, as `OnCalendar`, and the longest time of one run. */
  readonly schedule?: { readonly when: string; readonly longest: string };
};

const start =
  (options: string): Unit['run'] =>
  ({ directory, extension }) =>
    `${directory}/bin/tradepost${extension} start --plain ${options}`;
const daemon =
  (name: string): Unit['run'] =>
  ({ directory, extension }) =>
    `${directory}/daemons/${name}${extension} --once`;
const command =
  (of: (at: Placement) => string): Unit['run'] =>
  (at) =>
    `${at.directory}/bin/tradepost${at.extension} ${of(at)}`;

/** The services. Of a template any number may run: the instance is the port. */
const services: readonly Unit[] = [
  {
    ...{ name: 'shop', file: 'tradepost.service', memory: '2G', drains: true, adminPort: '8082' },
    about: 'API, worker and LLM gateway in one process; starts the embedded PostgreSQL when there is no DATABASE_URL',
    run: start('--admin-port 8082'),
  },
  {
    ...{ name: 'api', file: 'tradepost-api@.service', memory: '1G', drains: true, adminPort: '1%i' },
    about: 'API on port %i, its admin listener on port 1%i',
    run: start('--only api --port %i --admin-port 1%i'),
  },
  {
    ...{ name: 'worker', file: 'tradepost-worker@.service', memory: '1G', adminPort: '%i' },
    about: 'worker with its admin listener on port %i',
    run: start('--only worker --admin-port %i'),
  },
  {
    ...{ name: 'gateway', file: 'tradepost-gateway@.service', memory: '1G', drains: true, adminPort: '1%i' },
    about: 'LLM gateway on port %i, its admin listener on port 1%i',
    run: start('--only gateway --gateway-port %i --admin-port 1%i'),
  },
];

/** Programs for timers. They do the work of a worker, or check the shop. */
const scheduled: readonly Unit[] = [
  {
    ...{ name: 'jobs', file: 'tradepost-jobs.service', memory: '1G' },
    about: 'the jobs that are due, where no worker runs',
    run: daemon('worker'),
    schedule: { when: '*-*-* *:*:00', longest: '10min' },
  },
  {
    ...{ name: 'wms-retry', file: 'tradepost-wms-retry.service', memory: '1G' },
    about: 'the tasks for the external warehouse that are due, where no worker runs',
    run: daemon('wms-retry'),
    schedule: { when: '*-*-* *:*:30', longest: '10min' },
  },
  {
    ...{ name: 'carrier-sync', file: 'tradepost-carrier-sync.service', memory: '1G' },
    about: 'the shipments that are due, asked at their carriers, where no worker runs',
    run: daemon('carrier-sync'),
    schedule: { when: '*-*-* *:0/5:15', longest: '30min' },
  },
  {
    ...{ name: 'backup', file: 'tradepost-backup.service', memory: '1G' },
    about: 'a backup, where the setting backup.destination makes none',
    run: command(({ backups }) => `backup create ${isBucket(backups) ? backups : `${backups}/`}`),
    schedule: { when: '*-*-* 03:30:00', longest: 'infinity' },
  },
  {
    ...{ name: 'backup-verify', file: 'tradepost-backup-verify.service', memory: '1G' },
    about: 'the newest backup, restored into a temporary database and audited',
    run: command(({ backups }) => `backup verify ${backups}`),
    schedule: { when: 'Sun *-*-* 05:30:00', longest: 'infinity' },
  },
  {
    ...{ name: 'audit', file: 'tradepost-audit.service', memory: '1G' },
    about: 'every invariant of the shop; fails when one is broken',
    run: command(() => 'audit'),
    schedule: { when: '*-*-* 04:30:00', longest: '2h' },
  },
];

export const units: readonly Unit[] = [...services, ...scheduled];
