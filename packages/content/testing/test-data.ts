import type { TestData } from '@tradepost/testing/test-data';

/** A page with a live variant, and a second variant that was live before. */
const rows = `
  insert into content.decor_pages (page_key) values ('index');
  insert into content.decor_publications (id, page_key, variant_key, variant_name, components, published_at, published_by_id)
    overriding system value
    values (1, 'index', 'summer', '', '[]', '2026-01-01', 1), (2, 'index', 'default', '', '[]', '2026-01-02', 1);
  insert into content.decor_variants (page_key, variant_key, variant_name, components, is_published, publication_id,
      published_at, created_at, updated_at)
    values ('index', 'default', '', '[]', true, 2, '2026-01-02', now(), now()),
           ('index', 'summer', '', '[]', false, 1, '2026-01-01', now(), now());`;

export const testData: TestData = {
  rows,
  auditCases: [
    ['content.decor_live', 'none is live', `update content.decor_variants set is_published = false`],
    [
      'content.decor_live',
      'two are live',
      `drop index content.decor_variants_live; update content.decor_variants set is_published = true`,
    ],
    [
      'content.decor_publications',
      'of another variant',
      `update content.decor_variants set publication_id = 1, published_at = '2026-01-01' where variant_key = 'default'`,
    ],
    [
      'content.decor_publications',
      'at another time',
      `update content.decor_variants set published_at = '2026-01-03' where variant_key = 'default'`,
    ],
  ],
  makers: {
    // Published pages with a second variant. There is a limit for pages, so they are used again.
    decor: ({ shop, staff, nextNumber, repeat }, count) =>
      repeat(count, async () => {
        const page = `page_${nextNumber() % 20}`;
        const body = { from_variant_key: 'default', new_variant_key: 'spare', new_variant_name: 'Spare' };
        await shop.call('POST', `/admin/api/decor/${page}/copies`, { token: staff, body });
        await shop.call('POST', `/admin/api/decor/${page}/publish`, { token: staff });
        return page;
      }),
    // Of the page that was made last, which the path of the request names.
    variants: (_context, count) => Promise.resolve(Array(count).fill('spare')),
    publications: async ({ sql }, count) => {
      const rows = await sql<{ id: number }[]>`
        select id from content.decor_publications order by id desc limit ${count}`;
      return rows.map(({ id }) => id);
    },
  },
};
