/** Persons of a group, and hours that it is open. */
export { maxExpireHours as maxGroupHours, maxPersons as maxGroupSize } from '@tradepost/activities';
/** Open groups that one shopper leads. */
export const maxLedGroups = 200;
/** Groups or members that one transaction of the expiry moves. */
export const expiryBatch = 200;
/** Orders of a shopper that are checked when the shopper opens a group. */
export const maxReadOrders = 20;
