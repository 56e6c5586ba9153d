/** Helpers of a bargain, and hours that it is open. */
export { maxExpireHours as maxBargainHours, maxPersons as maxHelpersOfBargain } from '@tradepost/activities';
/** The largest cut, in minor units. */
export const maxCutAmount = 1_000_000_00;
/** Bargains of one shopper that can be bought and are read for an order; the oldest ones. */
export const maxReadBargains = 200;
/** Bargains that one transaction of the expiry moves. */
export const expiryBatch = 500;
