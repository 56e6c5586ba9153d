import type { Module } from '@tradepost/module';
import { logRemarks } from '@tradepost/points';
import { adminCheckinRoutes } from './back-office/admin-checkin-routes.ts';
import { checkinAudits } from './checkin-audits.ts';
import { shopperCheckedIn } from './checkin-events.ts';
import { checkInRemarks } from './daily/check-in-remarks.ts';
import { checkInRoutes } from './daily/check-in-routes.ts';
import { checkinMenu } from './menu.ts';
import { checkInDays, checkinRetention } from './retention.ts';
import { checkinInChangeLog, checkinTables } from './tables.ts';

export const checkinModule: Module = {
  name: 'checkin',
  needs: ['identity', 'points'],
  tables: checkinTables,
  changeLog: checkinInChangeLog,
  settings: [checkInDays],
  menu: checkinMenu,
  audits: checkinAudits,
  events: [shopperCheckedIn],
  retention: checkinRetention,
  open: ({ runtime }) => ({
    contributions: [logRemarks.add(checkInRemarks)],
    routes: () => [...checkInRoutes(runtime), ...adminCheckinRoutes(runtime)],
  }),
};
