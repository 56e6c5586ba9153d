import type { DemoSeed } from '@tradepost/module';
import type { AnnouncementText } from './announcement.ts';
import { hasAnnouncements, insertAnnouncement } from './announcement-store.ts';

const always = { starts_at: null, ends_at: null };
const texts: readonly AnnouncementText[] = [
  {
    title: 'Welcome to the demo shop',
    content:
      'All products, orders and accounts here are examples.\nShipments are tracked by a simulated carrier service.',
    type: 'info',
    ...always,
  },
  {
    title: 'Ship orders on the day they are paid',
    content: 'Orders that are paid before 16:00 leave the warehouse on the same day.',
    type: 'normal',
    ...always,
  },
];

export const announcementDemo: DemoSeed = {
  isEmpty: async (sql) => !(await hasAnnouncements(sql)),
  async write(tx) {
    for (const text of texts) await insertAnnouncement(tx, text);
    return {};
  },
};
