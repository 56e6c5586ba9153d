import type { Queryable } from '@tradepost/postgres';
import { defineRegistry } from '../registry.ts';

/**
 * `published`: shoppers see a page of the page designer. `draft`: there are pages, but none is published. `none`: there
 * are no pages, or no module designs pages.
 */
export const decorationStatuses = ['none', 'draft', 'published'] as const;
export type DecorationStatus = (typeof decorationStatuses)[number];

/** Whether the shop has designed pages. Asks in one statement. */
export type ShopDecoration = { readonly status: (sql: Queryable) => Promise<DecorationStatus> };

/** At most one module adds an entry: the one that owns the pages. Without an entry the status is `none`. */
export const shopDecoration = defineRegistry<ShopDecoration>('module.shop_decoration', { isStatic: true });
