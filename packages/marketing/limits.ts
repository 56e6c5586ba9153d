/** Characters of the name of a coupon or full reduction, and of the description of a coupon. */
export const maxName = 100;
export const maxDescription = 500;
/** Coupons that are not deleted. */
export const maxCoupons = 10_000;
/** The largest `total_count` and `per_limit` of a coupon. 0 is unlimited. */
export const maxCount = 100_000_000;
/** Coupons that one request sends. */
export const maxSend = 100_000;
/** Coupons that a shopper can choose for one order. */
export const maxCouponsPerOrder = 20;
/** Coupons on a page of the shop. */
export const maxClaimablePage = 100;
/** Coupons of a shopper in one answer: the newest. */
export const maxUserCoupons = 200;
/** Rows on a page of the back office. */
export const maxAdminPage = 1_000;
/** Full reductions, and those of them that are enabled and have not ended. */
export const maxFullReductions = 1_000;
export const maxEnabledReductions = 20;
/** Tiers of a full reduction. */
export const maxTiers = 20;
/** Coupons that the job marks as expired in one statement. */
export const expireBatch = 5_000;
