import { retentionDays, setting } from '@tradepost/runtime';
import { z } from 'zod';

export const openDrafts = setting(
  'content.open_drafts',
  z.boolean(),
  true,
  'whether the storefront shows variants that were never published: those named by ?variant=, and the default one of a page ' +
    'without a published variant; false: it answers as for an unknown variant',
);

export const publicationDays = retentionDays(
  'decor_publications',
  400,
  'publications of decoration pages that no variant shows',
);

export const contentSettings = [openDrafts, publicationDays] as const;
