import type { Queryable, Transaction } from '@tradepost/postgres';
import { contentErrors } from '../errors.ts';
import { lockPage } from './decor-store.ts';

/** A page for which something was saved. `live`: the key of the live variant, or null. */
export type PageRow = { page_key: string; variants: number; live: string | null; updated_at: Date | null };

/** All pages, by key. There are at most `maxPages`. */
export const selectPages = (sql: Queryable): Promise<PageRow[]> => sql<PageRow[]>`
  select p.page_key, count(v.id)::int as variants, max(v.variant_key) filter (where v.is_published) as live,
         max(v.updated_at) as updated_at
  from content.decor_pages p left join content.decor_variants v using (page_key)
  group by p.page_key order by p.page_key`;

/** Removes a page with its drafts and publications. Shoppers then get an empty page. */
export async function removePage(tx: Transaction, pageKey: string): Promise<void> {
  if (!(await lockPage(tx, pageKey))) throw contentErrors.page_not_found();
  await tx`delete from content.decor_variants where page_key = ${pageKey}`;
  await tx`delete from content.decor_publications where page_key = ${pageKey}`;
  await tx`delete from content.decor_pages where page_key = ${pageKey}`;
}
