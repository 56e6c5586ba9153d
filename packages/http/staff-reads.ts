import { type ConcurrencyLimit, createConcurrencyLimit } from '@tradepost/runtime';

/** Reads of staff that run at once, however many connections there are. */
const mostActive = 8;
/** Reads of staff that wait. Further ones are answered with 503. */
const queued = 200;

/**
 * The slots of the GET routes with auth "staff" in one process. Lists of the back office search and count large tables. They
 * take at most half of the connections, so that many of them do not keep shoppers waiting.
 */
export const openStaffReads = (connections: number): ConcurrencyLimit =>
  createConcurrencyLimit({ active: Math.max(1, Math.min(mostActive, Math.floor(connections / 2))), queued });
