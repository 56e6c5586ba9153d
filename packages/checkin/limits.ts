/** Rules of the shop. */
export const maxRules = 100;
/** The largest day of a rule. */
export const maxRuleDay = 3_650;
/** The most points of one check-in. */
export const maxRulePoints = 100_000;
/** The points of a check-in when no rule holds: the shop has neither a rule for day 0 nor one at or below the day. */
export const pointsWithoutRule = 10;
/** Check-ins on a page of the back office. */
export const maxAdminPage = 1_000;
/** Check-ins that the list of the back office counts, and whose pages it has. */
export const maxListed = 100_000;
/** Days for which check-ins are kept whatever the retention says: the status shows the current month. */
export const keptDays = 40;
