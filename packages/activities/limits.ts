/** Rows of one activity. Only one activity of a type runs at a time, so a list reads at most so many. */
export const maxActivityProducts = 1_000;
/** Bytes of the body that replaces all rows of an activity. */
export const maxProductsBody = 1024 * 1024;
/** Rows of a page of the back office. */
export const maxAdminPage = 1_000;
/** Characters of the name of an activity. */
export const maxName = 100;
/** The largest limit per order, and the largest number of pieces of an activity. */
export const maxPieces = 100_000_000;
/** Hours. */
export const maxExpireHours = 24 * 365;
/** Persons of a group, and helpers of a bargain. */
export const maxPersons = 1_000;
