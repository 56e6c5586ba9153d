import type { Sql } from './client.ts';

/** Facts about the PostgreSQL server, for `tradepost doctor`. */
export type ServerFacts = {
  version: string;
  version_number: number;
  encoding: string;
  fsync: boolean;
  full_page_writes: boolean;
  is_replica: boolean;
  account: string;
  database: string;
  /** Whether the account may create schemas and extensions in the database. Migrations need it. */
  may_create: boolean;
  max_connections: number;
  connections: number;
  database_bytes: number;
  clock: Date;
  /** The longest transaction of other sessions in this database. Null when no transaction is older than a minute. */
  oldest_transaction: { pid: number; seconds: number; application: string; state: string } | null;
};

export async function selectServerFacts(sql: Sql): Promise<ServerFacts> {
  const [row] = await sql<ServerFacts[]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as version_number,
           pg_encoding_to_char(d.encoding) as encoding, current_setting('fsync')::bool as fsync,
           current_setting('full_page_writes')::bool as full_page_writes, pg_is_in_recovery() as is_replica,
           current_user::text as account, d.datname::text as database,
           has_database_privilege(d.oid, 'create') as may_create,
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
             as max_connections,
           (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
           pg_database_size(d.oid) as database_bytes, clock_timestamp() as clock,
           (select jsonb_build_object('pid', pid, 'seconds', extract(epoch from now() - xact_start)::int,
                                      'application', application_name, 'state', state)
            from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - interval '1 minute'
            order by xact_start limit 1) as oldest_transaction
    from pg_database d where d.datname = current_database()`;
  return row!;
}
