/** The largest number of announcements that are not withdrawn. */
export const maxAnnouncements = 1_000;
export const maxAnnouncementTitle = 200;
export const maxAnnouncementContent = 10_000;
/** Announcements that one call withdraws. */
export const maxWithdrawn = 100;
/** The largest page of the list of announcements. */
export const maxAnnouncementPage = 1_000;
