import { id, lineText, pageQueryWith, requiredText, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { announcementStates, announcementTypes } from './announcement.ts';
import { maxAnnouncementContent, maxAnnouncementTitle } from './limits.ts';

const title = () =>
  lineText(maxAnnouncementTitle)
    .min(1)
    .meta({ examples: ['Stock count on Friday'] });
const content = () =>
  requiredText(maxAnnouncementContent).meta({
    description: 'plain text, may have several lines',
    examples: ['The warehouse does not ship on Friday afternoon.'],
  });
const type = () => z.enum(announcementTypes).meta({ examples: ['normal'] });
/** A time of a form. Empty or null means not set. */
const time = (about: string) =>
  text(40)
    .nullable()
    .optional()
    .meta({ description: about, examples: ['2026-03-01T09:30:00'] });
const span = {
  starts_at: time('when it becomes visible; empty = at once; without an offset in the zone of the shop'),
  ends_at: time('when it is no longer visible; empty = when it is withdrawn'),
};

export const announcementBody = z.object({
  title: title(),
  content: content(),
  type: type().default('normal'),
  ...span,
});
/** A field that is absent is not changed. */
export const announcementChangeBody = z.object({
  title: title().optional(),
  content: content().optional(),
  type: type().optional(),
  ...span,
});

export const announcementQuery = pageQueryWith({
  state: z
    .enum([...announcementStates, 'all'])
    .optional()
    .meta({ description: 'visible (default) or another state; others need system:config', examples: ['visible'] }),
});

const timeOrNull = () => timestamp().nullable();
export const announcementView = z
  .object({
    id: id(),
    title: z.string(),
    content: z.string(),
    type: type(),
    state: z.enum(announcementStates).meta({ examples: ['visible'] }),
    starts_at: timeOrNull(),
    ends_at: timeOrNull(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Announcement' });
