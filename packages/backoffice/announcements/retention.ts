import { type RetentionRule, retentionDays } from '@tradepost/runtime';

export const announcementsDays = retentionDays('announcements', 90, 'withdrawn announcements');

export const backofficeRetention: readonly RetentionRule[] = [
  {
    name: 'announcements',
    about: 'announcements that were withdrawn',
    table: 'backoffice.announcements',
    age: 't.withdrawn_at',
    days: announcementsDays,
  },
];
