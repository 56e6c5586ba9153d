import type { RetentionRule } from '@tradepost/runtime';
import { publicationDays } from './settings.ts';

export const contentRetention: readonly RetentionRule[] = [
  {
    name: 'decor_publications',
    about: 'publications of decoration pages, once no variant shows them',
    table: 'content.decor_publications',
    age: 't.published_at',
    where: (sql) => sql`not exists (select from content.decor_variants v where v.publication_id = t.id)`,
    days: publicationDays,
  },
];
