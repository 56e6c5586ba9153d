/** Points on one account. Sums of all accounts stay within the safe integers. */
export const maxBalance = 1_000_000_000_000;
/** Points of one adjustment, and of one order. */
export const maxPoints = 1_000_000_000;
/** Characters of the remark of an adjustment. */
export const maxRemark = 200;
/** Rows on a page of the back office, and of a shopper. */
export const maxAdminPage = 1_000;
export const maxLogsPage = 100;
/** Rows of the ledger that a list counts, and whose pages it has. */
export const maxListed = 100_000;
