import { retentionDays, setting } from '@tradepost/runtime';
import { z } from 'zod';

export const openDrafts = setting(
  'content.open_drafts',
  z.boolean(),
  true,
  'whether ?variant= of the storefront shows a variant that was never published; false: it answers as an unknown variant',
);

export const publicationDays = retentionDays(
  'decor_publications',
  400,
  'publications of decoration pages that no variant shows',
);

export const contentSettings = [openDrafts, publicationDays] as const;
