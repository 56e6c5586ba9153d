import type { Sql } from '@tradepost/postgres';
import { roles as allRoles, type Role } from '../config/fields.ts';

/** A server process that is connected to the database. `offset_ms`: its clock minus that of the database. */
export type ServerProcess = {
  instance: string;
  version: string;
  roles: readonly Role[];
  production: boolean;
  offset_ms: number;
  /**
   * Id of the key that encrypts stored secrets; `none` without a key file, `failed` for one that cannot be used; null when
   * the process is of a version that does not say it.
   */
  key: string | null;
};

const prefix = 'tradepost process';
const named = new RegExp(`^${prefix} (\\S+) ([a-z]+) ([pd]) (-?\\d+)(?: ([0-9a-f]{8}|none|failed))? (\\w+)$`);

/** PostgreSQL keeps 63 bytes of a name, so roles are letters. */
const nameOf = ({ version, roles, production, offset_ms, key, instance }: ServerProcess): string =>
  `${prefix} ${version} ${roles.map((role) => role[0]).join('')} ${production ? 'p' : 'd'} ${offset_ms} ${key === null ? '' : `${key} `}${instance}`;

/** The clock of this process minus that of the database, in milliseconds. */
export async function measureClock(sql: Sql): Promise<number> {
  const before = Date.now();
  const [row] = await sql<{ at: Date }[]>`select clock_timestamp() as at`;
  return Math.round((before + Date.now()) / 2 - row!.at.getTime());
}

/** Names the session of a process. The name ends with the session, so a killed process leaves nothing. */
export async function nameSession(sql: Sql, process: ServerProcess): Promise<void> {
  await sql`select set_config('application_name', ${nameOf(process)}, false)`;
}

/** The server processes on this database. `hidden`: whether other accounts have sessions, whose names are not shown. */
export async function selectProcesses(sql: Sql): Promise<{ processes: ServerProcess[]; hidden: boolean }> {
  const rows = await sql<{ name: string | null; is_mine: boolean | null }[]>`
    select application_name as name, usename = current_user as is_mine from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() limit 10000`;
  const processes = rows.flatMap(({ name }) => {
    const [, version = '', letters = '', mode, offset, key = null, instance = ''] = named.exec(name ?? '') ?? [];
    const roles = allRoles.filter((role) => letters.includes(role[0]!));
    return instance ? [{ version, roles, production: mode === 'p', offset_ms: Number(offset), key, instance }] : [];
  });
  return { processes, hidden: rows.some((row) => row.is_mine === false) };
}
