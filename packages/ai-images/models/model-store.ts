import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import { maxModels } from '../limits.ts';

type ModelParams = {
  model?: string | undefined;
  sizes?: string[] | undefined;
  images_per_request?: number | undefined;
  response_format?: 'b64_json' | 'url' | undefined;
  options?: Record<string, string | number | boolean> | undefined;
};
export type ImageModel = {
  id: number;
  name: string;
  driver: string;
  endpoint: string;
  api_key_sealed: string | null;
  params: ModelParams;
  is_default: boolean;
  status: 0 | 1;
  supports_ref_image: boolean;
};

const columns = (sql: Queryable) => sql`
  id, name, driver, endpoint, api_key_sealed, params, is_default, status, supports_ref_image`;

/** Enabled models, or all of them: the default one first, then in the order in which they were added. */
export async function selectModels(sql: Queryable, { all }: { all: boolean }): Promise<ImageModel[]> {
  return sql<ImageModel[]>`
    select ${columns(sql)} from ai_images.models where ${all} or status = 1 order by is_default desc, id limit ${maxModels}`;
}

/** The model with this id, or the default model for 0. */
export async function selectModel(sql: Queryable, id: number): Promise<ImageModel | undefined> {
  const [row] = await sql<ImageModel[]>`
    select ${columns(sql)} from ai_images.models where ${id === 0 ? sql`is_default` : sql`id = ${id}`}`;
  return row;
}

/** An id for a new model. Its key is sealed with it before the row exists. */
export async function nextModelId(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('ai_images.models', 'id')) as id`;
  return row!.id;
}

/** Makes other transactions that write models wait until this one ends. Returns the models. */
export async function lockModels(tx: Transaction): Promise<ImageModel[]> {
  await tx`lock table ai_images.models in share row exclusive mode`;
  return selectModels(tx, { all: true });
}

/** Takes the mark of the default model from all models except this one. */
export async function clearDefault(tx: Transaction, except: number): Promise<void> {
  await tx`update ai_images.models set is_default = false, updated_at = now() where is_default and id <> ${except}`;
}

/** Adds models, or replaces those with the same ids. */
export async function upsertModels(tx: Transaction, models: readonly ImageModel[]): Promise<void> {
  await tx`
    insert into ai_images.models (id, name, driver, endpoint, api_key_sealed, params, is_default, status, supports_ref_image)
    overriding system value
    select id, name, driver, endpoint, api_key_sealed, params, is_default, status, supports_ref_image
    from jsonb_to_recordset(${tx.json(models as never)}) as m (
      id bigint, name text, driver text, endpoint text, api_key_sealed text, params jsonb, is_default boolean,
      status smallint, supports_ref_image boolean)
    on conflict (id) do update set
      name = excluded.name, driver = excluded.driver, endpoint = excluded.endpoint,
      api_key_sealed = excluded.api_key_sealed, params = excluded.params, is_default = excluded.is_default,
      status = excluded.status, supports_ref_image = excluded.supports_ref_image, updated_at = now()`;
}

/** Deletes models. Returns the ids of those that existed. */
export async function deleteModels(tx: Transaction, ids: readonly number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    delete from ai_images.models where id = any(${[...ids]}::bigint[]) returning id`;
  return rows.map(({ id }) => id);
}
