import { isoInZone } from '@tradepost/core';
import type { DashboardList } from '@tradepost/module';
import { timeZone } from '@tradepost/runtime';
import { selectNewestAnnouncements } from './announcement-store.ts';

/** The newest visible announcements, for every administrator. */
export const dashboardAnnouncements: DashboardList<'announcements'> = {
  field: 'announcements',
  permission: null,
  async select({ sql, settings }, { limit }) {
    const zone = settings.get(timeZone);
    const rows = await selectNewestAnnouncements(sql, limit);
    return rows.map(({ id, title, content, type, created_at }) => ({
      ...{ id, title, content, type },
      created_at: isoInZone(created_at, zone),
    }));
  },
};
