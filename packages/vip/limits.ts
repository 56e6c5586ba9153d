/** Rows on a page of the back office, and of a shopper. */
export const maxAdminPage = 1_000;
export const maxPage = 100;
/** Plans, levels and coupon rules of the shop. Further ones are refused. Prices read the levels of every shopper. */
export const maxPlans = 100;
export const maxLevels = 100;
export const maxRules = 200;
/** Months of a plan, and months from now until the end of a membership. */
export const maxPlanMonths = 120;
export const maxMonthsLeft = 240;
/** Claims of a coupon rule in a month. */
export const maxQuota = 1_000;
/** Largest growth at which a level begins. */
export const maxGrowth = 1_000_000_000_000;
export const maxName = 64;
export const maxCouponName = 128;
/** Memberships or purchases that one statement of a job ends. */
export const sweepBatch = 500;
