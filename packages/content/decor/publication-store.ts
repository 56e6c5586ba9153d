import type { Paging } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import { maxPublications } from '../limits.ts';

export type PublicationRow = {
  id: number;
  page_key: string;
  variant_key: string;
  variant_name: string;
  published_at: Date;
  published_by_id: number;
  rolled_back_to: number | null;
  is_live: boolean;
};
export type PublicationContent = Pick<PublicationRow, 'id' | 'variant_key' | 'variant_name'> & { components: string };

/** The publications of a page, the newest first. */
export async function selectPublications(
  sql: Queryable,
  pageKey: string,
  paging: Paging,
): Promise<{ rows: PublicationRow[]; total: number }> {
  const rows = await sql<(PublicationRow & { total: number })[]>`
    with counted as (select count(*)::int as total from content.decor_publications where page_key = ${pageKey}),
    page as (
      select p.id, p.page_key, p.variant_key, p.variant_name, p.published_at, p.published_by_id, p.rolled_back_to,
             exists (select from content.decor_variants v where v.publication_id = p.id and v.is_published) as is_live
      from content.decor_publications p where p.page_key = ${pageKey}
      order by p.id desc limit ${paging.size} offset ${paging.offset})
    select page.*, counted.total from counted left join page on true order by page.id desc`;
  return {
    rows: rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [row])),
    total: rows[0]?.total ?? 0,
  };
}

export async function selectPublication(
  tx: Transaction,
  pageKey: string,
  id: number,
): Promise<PublicationContent | null> {
  const [row] = await tx<PublicationContent[]>`
    select id, variant_key, variant_name, components from content.decor_publications
    where page_key = ${pageKey} and id = ${id}`;
  return row ?? null;
}

/**
 * Makes a variant of a locked page the live one. It shows its draft, or the content of the publication `from`. Old
 * publications are deleted.
 */
export async function publishVariant(
  tx: Transaction,
  { pageKey, variantId, from }: { pageKey: string; variantId: number; from: number | null },
  { by, now }: { by: number; now: Date },
): Promise<void> {
  // A statement of its own: the index of live variants is checked row by row.
  await tx`
    update content.decor_variants set is_published = false
    where page_key = ${pageKey} and is_published and id <> ${variantId}`;
  await tx`
    with added as (
      insert into content.decor_publications
        (page_key, variant_key, variant_name, components, published_at, published_by_id, rolled_back_to)
      select v.page_key, v.variant_key, v.variant_name, coalesce(old.components, v.components), ${now}, ${by}, old.id
      from content.decor_variants v left join content.decor_publications old on old.id = ${from}
      where v.id = ${variantId}
      returning id)
    update content.decor_variants set is_published = true, publication_id = added.id, published_at = ${now}
    from added where decor_variants.id = ${variantId}`;
  await tx`
    delete from content.decor_publications p
    where p.page_key = ${pageKey}
      and p.id <= (select id from content.decor_publications where page_key = ${pageKey}
                   order by id desc limit 1 offset ${maxPublications})
      and not exists (select from content.decor_variants v where v.publication_id = p.id)`;
}
