import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DemoSeed } from '@tradepost/module';
import { readComponents } from './components/read-components.ts';
import { saveDraft } from './decor/change-variants.ts';
import { publish } from './decor/publish-variants.ts';
import { defaultVariant } from './decor/variant-key.ts';

/** The home pages of the demo shop, published. */
export const contentDemo: DemoSeed = {
  isEmpty: async (sql) => (await sql`select from content.decor_pages limit 1`).length === 0,
  async write(tx, fixtures) {
    const pages: Record<string, unknown> = JSON.parse(await readFile(join(fixtures, 'decor.json'), 'utf8'));
    const now = new Date();
    for (const [pageKey, value] of Object.entries(pages)) {
      const components = readComponents(pageKey, value, { locale: 'en', relative: (url) => url });
      await saveDraft(tx, { pageKey, variantKey: defaultVariant, components }, now);
      await publish(tx, { pageKey, variantKey: defaultVariant }, { by: 0, now });
    }
    return {};
  },
};
