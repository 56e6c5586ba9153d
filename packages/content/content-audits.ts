import type { Audit } from '@tradepost/runtime';

export const contentAudits: readonly Audit[] = [
  {
    name: 'content.decor_live',
    about: 'a page that was published has exactly one live variant',
    query: (sql) => sql`
      select page_key, count(v.id) filter (where v.is_published) as live
      from content.decor_pages join content.decor_variants v using (page_key)
      group by page_key having bool_or(v.publication_id is not null)
        and count(v.id) filter (where v.is_published) <> 1`,
  },
  {
    name: 'content.decor_publications',
    about: 'the last publication of a variant is a publication of this variant, at the time that the variant has',
    query: (sql) => sql`
      select v.id as variant_id, v.page_key, v.variant_key, p.page_key as of_page, p.variant_key as of_variant
      from content.decor_variants v join content.decor_publications p on p.id = v.publication_id
      where p.page_key <> v.page_key or p.variant_key <> v.variant_key or p.published_at is distinct from v.published_at`,
  },
];
