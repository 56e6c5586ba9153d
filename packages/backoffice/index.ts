export type { Announcement } from './announcements/announcement.ts';
export { selectNewestAnnouncements } from './announcements/announcement-store.ts';
export { announcementViewOf } from './announcements/announcement-view.ts';
export { backofficeModule } from './module.ts';
export { shopName } from './shop/shop-routes.ts';
