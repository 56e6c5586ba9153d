import type { Paging } from '@tradepost/core';
import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import type { SpecGroup } from '../products/sku-matrix.ts';

export type SpecTemplate = {
  id: number;
  name: string;
  category_ids: number[];
  attrs: SpecGroup[];
  status: number;
  created_at: Date;
  updated_at: Date;
};
type SpecTemplateFields = Pick<SpecTemplate, 'name' | 'category_ids' | 'attrs' | 'status'>;

const columns = (sql: Queryable) => sql`
  id, name, to_jsonb(category_ids) as category_ids, attrs, status, created_at, updated_at`;
const contains = (keyword: string) => `%${keyword.replace(/[\\%_]/g, '\\$&')}%`;

export type SpecTemplateFilter = {
  keyword?: string | undefined;
  status?: number | undefined;
  /** Templates that list this category. */
  category_id?: number | undefined;
};

export async function selectSpecTemplates(
  sql: Sql,
  { keyword, status, category_id }: SpecTemplateFilter,
  paging: Paging,
): Promise<{ rows: SpecTemplate[]; total: number }> {
  const where = sql`true
    ${keyword === undefined ? sql`` : sql`and name ilike ${contains(keyword)}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${category_id === undefined ? sql`` : sql`and category_ids @> array[${category_id}]::bigint[]`}`;
  const rows = await sql<(SpecTemplate & { total: number })[]>`
    with page as (
      select ${columns(sql)} from catalog.spec_templates where ${where}
      order by id desc limit ${paging.size} offset ${paging.offset}),
    counted as (select count(*)::int as total from catalog.spec_templates where ${where})
    select page.*, counted.total from counted left join page on true order by page.id desc`;
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

export async function selectSpecTemplate(sql: Queryable, id: number): Promise<SpecTemplate | undefined> {
  const [row] = await sql<SpecTemplate[]>`select ${columns(sql)} from catalog.spec_templates where id = ${id}`;
  return row;
}

export async function insertSpecTemplate(tx: Transaction, fields: SpecTemplateFields): Promise<SpecTemplate> {
  const [row] = await tx<SpecTemplate[]>`
    insert into catalog.spec_templates (name, category_ids, attrs, status)
    values (${fields.name}, ${fields.category_ids}::bigint[], ${tx.json(fields.attrs as never)}, ${fields.status})
    returning ${columns(tx)}`;
  return row!;
}

/** Writes the given fields. Returns true when the template exists. */
export async function updateSpecTemplate(
  sql: Queryable,
  id: number,
  fields: { [K in keyof SpecTemplateFields]?: SpecTemplateFields[K] | undefined },
): Promise<boolean> {
  const { name = null, category_ids = null, attrs, status = null } = fields;
  const rows = await sql`
    update catalog.spec_templates
    set name = coalesce(${name}::text, name), category_ids = coalesce(${category_ids}::bigint[], category_ids),
        attrs = coalesce(${attrs ? sql.json(attrs as never) : null}::jsonb, attrs),
        status = coalesce(${status}::smallint, status), updated_at = now()
    where id = ${id} returning id`;
  return rows.length > 0;
}

export async function deleteSpecTemplate(sql: Queryable, id: number): Promise<boolean> {
  const rows = await sql`delete from catalog.spec_templates where id = ${id} returning id`;
  return rows.length > 0;
}
