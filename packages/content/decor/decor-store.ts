import type { Queryable, Transaction } from '@tradepost/postgres';
import { maxPages, maxVariants } from '../limits.ts';

/** `components` is JSON text. `publication_id` is the last publication of the variant. */
export type VariantRow = {
  id: number;
  merchant_id: number;
  page_key: string;
  variant_key: string;
  variant_name: string;
  components: string;
  is_published: boolean;
  has_changes: boolean;
  published_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

/** The columns of a variant `v` with its last publication `p`. */
const draftOf = (sql: Queryable) => sql`
  v.id, v.merchant_id, v.page_key, v.variant_key, v.variant_name, v.components, v.is_published,
  p.id is not null and v.components <> p.components as has_changes, v.published_at, v.created_at, v.updated_at`;

/** The same as shoppers see it: the publication, or what is saved without one. */
const shownOf = (sql: Queryable) => sql`
  v.id, v.merchant_id, v.page_key, v.variant_key, v.variant_name, coalesce(p.components, v.components) as components,
  v.is_published, false as has_changes, v.published_at, v.created_at, coalesce(p.published_at, v.updated_at) as updated_at`;

const variants = (sql: Queryable) => sql`
  content.decor_variants v left join content.decor_publications p on p.id = v.publication_id`;

/** All variants of a page with their drafts: the live one first, then the ones changed last. */
export const selectVariants = (sql: Queryable, pageKey: string): Promise<VariantRow[]> => sql<VariantRow[]>`
  select ${draftOf(sql)} from ${variants(sql)} where v.page_key = ${pageKey}
  order by v.is_published desc, v.updated_at desc, v.id desc limit ${maxVariants}`;

/** A variant with its draft. */
export async function selectDraft(sql: Queryable, pageKey: string, variantKey: string): Promise<VariantRow | null> {
  const [row] = await sql<VariantRow[]>`
    select ${draftOf(sql)} from ${variants(sql)} where v.page_key = ${pageKey} and v.variant_key = ${variantKey}`;
  return row ?? null;
}

/** What the storefront shows of a page: the live variant, otherwise the default variant. Without `drafts` only the live one. */
export async function selectLive(
  sql: Queryable,
  { pageKey, drafts }: { pageKey: string; drafts: boolean },
): Promise<VariantRow | null> {
  const [row] = await sql<VariantRow[]>`
    select ${shownOf(sql)} from ${variants(sql)}
    where v.page_key = ${pageKey} and (v.is_published or (${drafts} and v.variant_key = 'default'))
    order by v.is_published desc limit 1`;
  return row ?? null;
}

/** What the storefront shows of a variant. Without `drafts` only variants that were published are found. */
export async function selectShown(
  sql: Queryable,
  { pageKey, variantKey, drafts }: { pageKey: string; variantKey: string; drafts: boolean },
): Promise<VariantRow | null> {
  const [row] = await sql<VariantRow[]>`
    select ${shownOf(sql)} from ${variants(sql)}
    where v.page_key = ${pageKey} and v.variant_key = ${variantKey} and (${drafts} or p.id is not null)`;
  return row ?? null;
}

/** Locks a page. False when nothing was ever saved for it. */
export async function lockPage(tx: Transaction, pageKey: string): Promise<boolean> {
  return (await tx`select from content.decor_pages where page_key = ${pageKey} for update`).length > 0;
}

/** Locks a page, which is made when it does not exist. False when there are too many pages. */
export async function lockOrMakePage(tx: Transaction, pageKey: string): Promise<boolean> {
  if (await lockPage(tx, pageKey)) return true;
  // The count must stay true until the insert.
  await tx`lock table content.decor_pages in share row exclusive mode`;
  const made = await tx`
    insert into content.decor_pages (page_key)
    select ${pageKey} where (select count(*) filter (where page_key <> ${pageKey}) from content.decor_pages) < ${maxPages}
    on conflict (page_key) do update set page_key = excluded.page_key returning page_key`;
  return made.length > 0;
}

export type NewVariant = {
  pageKey: string;
  variantKey: string;
  /** The name of a new variant. */
  name?: string;
  components: string;
};

/**
 * Saves the draft of a variant of a locked page, or makes the variant. With `keep`, the draft of a variant that exists
 * stays. Null when the page has too many variants.
 */
export async function upsertVariant(
  tx: Transaction,
  { pageKey, variantKey, name = '', components }: NewVariant,
  { keep, now }: { keep: boolean; now: Date },
): Promise<{ id: number } | null> {
  const [row] = await tx<{ id: number }[]>`
    insert into content.decor_variants as v (page_key, variant_key, variant_name, components, created_at, updated_at)
    select ${pageKey}, ${variantKey}, ${name}, ${components}, ${now}, ${now}
    where (select count(*) filter (where variant_key <> ${variantKey}) from content.decor_variants
           where page_key = ${pageKey}) < ${maxVariants}
    on conflict (page_key, variant_key) do update set
      components = case when ${keep} then v.components else excluded.components end,
      updated_at = case when ${keep} then v.updated_at else excluded.updated_at end
    returning id`;
  return row ?? null;
}

export const renameVariant = (tx: Transaction, id: number, name: string, now: Date) =>
  tx`update content.decor_variants set variant_name = ${name}, updated_at = ${now} where id = ${id}`;

export const deleteVariant = (tx: Transaction, id: number) => tx`delete from content.decor_variants where id = ${id}`;
