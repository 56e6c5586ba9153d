import type { Audit } from '@tradepost/runtime';
import { maxAnnouncements } from './limits.ts';

export const announcementAudits: readonly Audit[] = [
  {
    name: 'backoffice.announcements',
    about: `there are at most ${maxAnnouncements} announcements that are not withdrawn`,
    query: (sql) => sql`
      select count(*) as announcements from backoffice.announcements
      where withdrawn_at is null having count(*) > ${maxAnnouncements}`,
  },
];
