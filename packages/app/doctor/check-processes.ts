import type { DoctorCheck, DoctorFacts, Findings } from '@tradepost/module';
import { type ServerProcess, selectProcesses } from '@tradepost/runtime';
import { numberOf, runningServer } from '@tradepost/terminal';
import { version } from '../version.ts';
import { instanceAt } from './instance-at.ts';

const skewMs = 2_000;

/** Finds a server of this configuration that uses another database than the doctor. */
async function checkSameDatabase(
  { config }: DoctorFacts,
  processes: readonly ServerProcess[],
  { error }: Findings,
): Promise<void> {
  const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host.replace(/^(.*:.*)$/, '[$1]');
  const urls = [(await runningServer(config.data))?.url, config.port > 0 ? `http://${host}:${config.port}` : undefined];
  for (const url of new Set(urls.filter((each) => each !== undefined))) {
    const instance = await instanceAt(url);
    if (instance && !processes.some((one) => one.instance === instance))
      error(
        'processes/other-database',
        `the server on ${url} uses another database than this command`,
        'run the command with the DATABASE_URL, --data and --config of the server; tradepost config shows which are used',
      );
  }
}

/** Finds processes whose key of stored secrets is not the one of this command. A shop without stored secrets needs no key. */
function checkSameKey({ secrets }: DoctorFacts, processes: readonly ServerProcess[], { error }: Findings): void {
  // With a file that cannot be used nothing is known of the keys of the others.
  if (secrets.recorded.length === 0 || secrets.problem) return;
  const own = secrets.inFile[0] ?? 'none';
  const others = processes.filter(({ key }) => key !== null && key !== own);
  if (others.length === 0) return;
  const unreadable = others.filter(({ key }) => key === 'failed').length;
  error(
    'processes/other-key',
    `${others.length} of ${processes.length} processes: the key of stored secrets is not that of ${secrets.file}${unreadable > 0 ? `; ${unreadable} cannot read their key file` : ''}`,
    'give every process and this command the same key file (TRADEPOST_SECRETS_KEY_FILE), which the account of the services can read',
  );
}

/** Finds several processes without a shared Redis. The units of systemd give the parts as options, which this command does not see. */
function checkSharedStore({ config }: DoctorFacts, processes: readonly ServerProcess[], { warning }: Findings): void {
  // Otherwise the check of the configuration has said so.
  if (processes.length < 2 || config.redisUrl || config.only.length < 2) return;
  warning(
    'processes/no-shared-store',
    `${processes.length} processes run, and REDIS_URL is not set: each counts log-in attempts and gateway limits for itself`,
    'set REDIS_URL to a Redis or Valkey that all instances share',
  );
}

/** Compares the server processes that are connected to the database with each other, and with this command. */
export const processesCheck: DoctorCheck = {
  area: { name: 'processes', sort: 43 },
  async check(facts, findings) {
    const { ok, warning } = findings;
    const { processes, hidden } = await selectProcesses(facts.sql);
    // Names of sessions of other accounts are not shown, so a process that is not found may be one of them.
    if (!hidden) await checkSameDatabase(facts, processes, findings);
    if (processes.length === 0) return;
    ok(
      `${numberOf(processes.length, 'server process', 'server processes')}: ${processes.map((one) => `${one.version} ${one.roles.join('+')}`).join('; ')}`,
    );
    const others = processes.filter((one) => one.version !== version);
    if (others.length > 0)
      warning(
        'processes/version',
        `${others.length} of ${processes.length} processes run another version than this command (${version}): ${[...new Set(others.map((one) => one.version))].join(', ')}`,
        'after an upgrade restart every process; run commands of the version that serves',
      );
    const offsets = processes.map((one) => one.offset_ms);
    const spread = Math.max(...offsets) - Math.min(...offsets);
    if (spread > skewMs)
      warning(
        'processes/clock',
        `the clocks of the processes differ by ${(spread / 1000).toFixed(1)} s: a token or code of one is expired for another`,
        'synchronise the clocks of all machines (NTP)',
      );
    checkSameKey(facts, processes, findings);
    checkSharedStore(facts, processes, findings);
    const mode = (production: boolean) => (production ? 'production' : 'development');
    if (processes.some((one) => one.production !== facts.config.production))
      warning(
        'processes/mode',
        `a process runs in ${mode(!facts.config.production)}, and this command in ${mode(facts.config.production)}: it checks for another mode`,
        `run the command with the environment of the server; all processes need the same NODE_ENV`,
      );
  },
};
