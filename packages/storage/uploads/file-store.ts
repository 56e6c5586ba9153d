import type { Queryable, Sql, Transaction } from '@tradepost/postgres';

export type FileOwner = { readonly role: 'user' | 'admin'; readonly id: number };
type NewFile = { driver: string; path: string; mime: string; owner: FileOwner };

/**
 * Adds the row of a file before its object exists. Null when the account has uploaded `limit` files in the last hour.
 * Uploads of one account are counted one after the other, otherwise parallel ones would pass the limit together.
 */
export async function insertPending(sql: Sql, file: NewFile, limit: number): Promise<number | null> {
  const { driver, path, mime, owner } = file;
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`storage.files ${owner.role}:${owner.id}`}, 0))`;
    const [row] = await tx<{ id: number }[]>`
      insert into storage.files (driver, path, mime, owner_role, owner_id)
      select ${driver}, ${path}, ${mime}, ${owner.role}, ${owner.id}
      where (
        select count(*) from storage.files
        where owner_role = ${owner.role} and owner_id = ${owner.id} and created_at > now() - interval '1 hour'
      ) < ${limit}
      returning id`;
    return row?.id ?? null;
  });
}

/** Changes the driver of a file whose object does not exist yet. */
export async function changeDriver(sql: Queryable, id: number, driver: string): Promise<void> {
  await sql`update storage.files set driver = ${driver}, changed_at = now() where id = ${id} and state = 'pending'`;
}

/** Deletes the row of a file that was never given to its driver. */
export async function deletePending(sql: Queryable, id: number): Promise<void> {
  await sql`delete from storage.files where id = ${id} and state = 'pending'`;
}

/** Marks files as complete. Returns the ids that were pending: a row that is being removed stays that. */
export async function markStored(
  tx: Transaction,
  files: readonly { id: number; address: string; size: number }[],
): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update storage.files f set state = 'stored', address = s.address, size = s.size, changed_at = now()
    from jsonb_to_recordset(${tx.json(files as never)}) as s (id bigint, address text, size bigint)
    where f.id = s.id and f.state = 'pending'
    returning f.id`;
  return rows.map(({ id }) => id);
}

export type FileRow = { id: number; driver: string; path: string; address: string; size: number };

/**
 * Begins the removal of files that are not complete, and of stored files that have had no reference since
 * `unreferencedBefore`. Other stored files stay: the commit that completed one may have succeeded although its caller
 * saw an error. Returns the rows to remove, with those whose removal had begun before.
 */
export async function markRemoving(
  sql: Queryable,
  ids: readonly number[],
  unreferencedBefore: Date | null,
): Promise<FileRow[]> {
  return sql<FileRow[]>`
    update storage.files set state = 'removing', changed_at = now()
    where id = any(${ids as number[]}::bigint[])
      and (state <> 'stored' or unreferenced_since < ${unreferencedBefore})
    returning id, driver, path, address, size`;
}

/** Ends the removal of files: their objects no longer exist. */
export async function deleteRemoved(sql: Queryable, ids: readonly number[]): Promise<void> {
  await sql`delete from storage.files where id = any(${ids as number[]}::bigint[]) and state = 'removing'`;
}

/**
 * Returns files whose removal has not ended since `before` to the stored ones. They may have got a reference meanwhile, so
 * the next sweep decides about them again. A failed upload has no address: it was never stored.
 */
export async function reopenRemovals(sql: Queryable, before: Date): Promise<void> {
  await sql`
    update storage.files set state = 'stored', changed_at = now()
    where state = 'removing' and address <> '' and changed_at < ${before}`;
}

/** Uploads, and removals of failed uploads, whose process ended in the middle. */
export async function selectUnfinished(sql: Queryable, before: Date, limit: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from storage.files where state <> 'stored' and changed_at < ${before} order by changed_at limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** The complete file with this path. */
export async function selectStoredFile(
  sql: Queryable,
  path: string,
): Promise<(Pick<FileRow, 'driver' | 'path' | 'address' | 'size'> & { mime: string }) | undefined> {
  const [row] = await sql<(FileRow & { mime: string })[]>`
    select driver, path, address, size, mime from storage.files where path = ${path} and state = 'stored'`;
  return row;
}

export type StoredRow = FileRow & { unreferenced_since: Date | null };

/** Stored files in the order of their ids, after an id. */
export async function selectStored(sql: Queryable, after: number, limit: number): Promise<StoredRow[]> {
  return sql<StoredRow[]>`
    select id, driver, path, address, size, unreferenced_since from storage.files
    where state = 'stored' and id > ${after}
    order by id limit ${limit}`;
}

/** Stored files with their types, in the order of their ids, after an id. */
export async function selectFilesAfter(
  sql: Queryable,
  after: number,
  limit: number,
): Promise<(FileRow & { mime: string })[]> {
  return sql<(FileRow & { mime: string })[]>`
    select id, driver, path, address, size, mime from storage.files
    where state = 'stored' and id > ${after}
    order by id limit ${limit}`;
}

/** Records which files have a reference now, and which have lost their last one since the sweep before. */
export async function recordUse(sql: Queryable, used: readonly number[], unused: readonly number[]): Promise<void> {
  await sql`
    update storage.files set unreferenced_since = case when id = any(${unused as number[]}::bigint[]) then now() end
    where (id = any(${unused as number[]}::bigint[]) and unreferenced_since is null)
       or (id = any(${used as number[]}::bigint[]) and unreferenced_since is not null)`;
}
