/** Characters of a title and of the text of an inbox message, as staff send them and as templates have them. */
export const maxTitle = 200;
export const maxContent = 2_000;
/** Messages to one shopper that are kept. The oldest are deleted when newer ones arrive. */
export const maxMessagesPerShopper = 500;
/** Broadcasts of one group that a shopper sees: the newest. Staff see all of them. */
export const maxBroadcastsPerGroup = 200;
/** Messages on a page of a shopper. */
export const maxInboxPage = 50;
/** Messages on a page of the back office. */
export const maxAdminPage = 1_000;
/** Ids of one request to mark messages as read. */
export const maxReadIds = 200;
/** Messages that the list of the back office counts, and whose pages it has. */
export const maxListed = 100_000;
/** Unread messages of a group that the back office counts. */
export const maxUnreadForStaff = 1_000;
/** Stored characters of a title and a text: texts of templates grow by their values. */
export const maxStoredTitle = 500;
export const maxStoredContent = 5_000;
