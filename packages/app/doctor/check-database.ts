import { type Finding, findingsOf, messageOf } from '@tradepost/module';
import {
  createDatabaseCommand,
  grantCreate,
  type MigrationFault,
  migrationFaults,
  migrationState,
  openDatabase,
  type ServerFacts,
  type Sql,
  selectServerFacts,
} from '@tradepost/postgres';
import type { Config } from '@tradepost/runtime';
import prettyBytes from 'pretty-bytes';

const skewMs = 2_000;

function checkServer(facts: ServerFacts, skew: number, config: Config): Finding[] {
  const { findings, ok, note, warning, error } = findingsOf('database');
  const size = prettyBytes(facts.database_bytes, { binary: true });
  if (facts.version_number < 150_000)
    error('database/old-version', `PostgreSQL ${facts.version} is too old`, 'upgrade it to 15 or newer');
  else ok(`PostgreSQL ${facts.version}, ${size}`);
  if (facts.encoding !== 'UTF8')
    error(
      'database/encoding',
      `the database has the encoding ${facts.encoding}, which cannot store every text`,
      'create a new database with encoding UTF8 and restore a dump',
    );
  if (facts.is_replica)
    error(
      'database/replica',
      'this server is a read replica: the shop cannot write',
      'set DATABASE_URL to the primary',
    );
  else if (!facts.may_create)
    error(
      'database/no-create-right',
      `the account ${facts.account} has no CREATE right on the database ${facts.database}: no migration can run`,
      `as the owner of the database: ${grantCreate(facts.database, facts.account)}`,
    );
  for (const [name, on] of Object.entries({ fsync: facts.fsync, full_page_writes: facts.full_page_writes }))
    if (!on)
      (config.production ? error : warning)(
        'database/not-durable',
        `${name} is off: a power failure can destroy the database`,
        `set ${name} = on in postgresql.conf and reload`,
      );
  const needed = config.databasePool + (config.only.includes('worker') ? config.workerConcurrency + 2 : 0) + 2;
  const left = facts.max_connections - facts.connections;
  const what = `${facts.connections} of ${facts.max_connections} connections in use; an instance takes up to ${needed}`;
  if (needed > facts.max_connections)
    error('database/too-few-connections', what, 'raise max_connections, or lower DATABASE_POOL');
  else if (left < 5)
    warning(
      'database/connections-used-up',
      `${what}: fewer than 5 are left`,
      'raise max_connections, or lower DATABASE_POOL of the instances',
    );
  else ok(what);
  if (Math.abs(skew) > skewMs)
    warning(
      'database/clock',
      `the database's clock is ${Math.abs(skew / 1000).toFixed(1)} s ${skew > 0 ? 'later' : 'earlier'} than that of this machine: orders expire at the wrong time`,
      'synchronise both clocks (NTP)',
    );
  const oldest = facts.oldest_transaction;
  if (oldest)
    (oldest.seconds > 600 ? warning : note)(
      'database/long-transaction',
      `a transaction has been open for ${Math.round(oldest.seconds / 60)} min (pid ${oldest.pid}, ${oldest.application || 'no name'}, ${oldest.state}): SKUs that it has locked cannot be sold, and vacuum cannot remove old rows`,
      `find out which program it is; select pg_terminate_backend(${oldest.pid}) ends it`,
    );
  return findings;
}

async function checkMigrations(sql: Sql): Promise<{ findings: Finding[]; isUsable: boolean }> {
  const { findings, ok, error } = findingsOf('migrations');
  const report: Record<MigrationFault['id'], (fault: MigrationFault) => void> = {
    restoring: ({ what, todo }) => error('migrations/restoring', what, todo),
    newer: ({ what, todo }) => error('migrations/newer', what, todo),
    edited: ({ what, todo }) => error('migrations/edited', what, todo),
    missing: ({ what }) => error('migrations/missing', what, 'tradepost migrate'),
  };
  const faults = migrationFaults(await migrationState(sql));
  for (const fault of faults) report[fault.id](fault);
  if (faults.length === 0) ok('the database has the schema of this version');
  return { findings, isUsable: !faults.some(({ id }) => id === 'missing' || id === 'restoring') };
}

const tooManyConnections = '53300';

/** Checks the server and the migrations. Calls `further` when no migration is missing and no restore is open. */
export async function checkDatabase<T>(
  url: string,
  config: Config,
  further: (sql: Sql) => Promise<T>,
): Promise<{ findings: Finding[]; further: T | null }> {
  const { findings, error } = findingsOf('database');
  const sql = openDatabase(url, { max: 1, name: 'tradepost doctor', statementTimeoutMs: 15_000, lockTimeoutMs: 5_000 });
  try {
    const before = Date.now();
    const facts = await selectServerFacts(sql);
    findings.push(...checkServer(facts, facts.clock.getTime() - (before + Date.now()) / 2, config));
    const migrations = await checkMigrations(sql);
    findings.push(...migrations.findings);
    if (!migrations.isUsable) return { findings, further: null };
    return { findings, further: await further(sql) };
  } catch (reason) {
    const { host } = new URL(url);
    if ((reason as { code?: unknown }).code === tooManyConnections) {
      error(
        'database/connections-used-up',
        `PostgreSQL at ${host} has no connection left: ${messageOf(reason)}. The rest of the shop was not checked`,
        'raise max_connections, or lower DATABASE_POOL of the instances; pg_stat_activity shows an administrator who has them',
      );
      return { findings, further: null };
    }
    const missing = (reason as { code?: unknown }).code === '3D000';
    error(
      'database/unreachable',
      `PostgreSQL at ${host} cannot be reached: ${messageOf(reason)}`,
      missing
        ? createDatabaseCommand(url)
        : 'check that it runs, and the address, account and password in DATABASE_URL',
    );
    return { findings, further: null };
  } finally {
    await sql.end({ timeout: 1 });
  }
}
