import type { ShopDecoration } from '@tradepost/module';

/** Whether shoppers see a designed page: one variant of any page is published. */
export const decorationStatus: ShopDecoration = {
  async status(sql) {
    const [row] = await sql<{ published: boolean | null }[]>`
      select bool_or(is_published) as published from content.decor_variants`;
    return row!.published === null ? 'none' : row!.published ? 'published' : 'draft';
  },
};
