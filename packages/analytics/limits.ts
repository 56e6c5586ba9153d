/** The most days of one dashboard chart. */
export const maxChartDays = 366;
/** The days of a chart without a range. */
export const defaultChartDays = 30;
/** Rows of the lists of the dashboard. */
export const maxHotProducts = 5;
export const maxStockWarnings = 20;
export const maxAnnouncements = 20;
/** Rows of the ranking of SKUs. */
export const maxRankedSkus = 10;
/** Categories of the chart by category. The others are one more row. */
export const maxCategories = 10;

/** Days that one transaction counts. */
export const daysPerRoll = 31;
/** Changed hours that one run takes: 31 days. */
export const changedHoursPerRun = 31 * 24;
/** The pause of the job after which it looks for events that its reader has missed. */
export const missedAfterMs = 15 * 60_000;
/** The shortest time between two refreshes of the sums of a period, unless the day has changed, and of the counts of the catalogue. */
export const refreshMs = 5 * 60_000;

/** Active SKUs of a catalogue that a report counts itself. Of a larger one it reads the stored counts. */
export const maxCountedLive = 20_000;
/** The age at which stored counts of the catalogue are not used any more, because no worker renews them. */
export const maxCountsAgeMs = 15 * 60_000;

/** Requests with a visit that one network may send in a minute. Further ones are not counted. */
export const visitsPerMinute = 120;
/** Visitors of a day. Page views of further visitors are counted, the visitors are not. */
export const maxVisitorsPerDay = 500_000;
/** The longest stay on a page that counts. */
export const maxStaySeconds = 1_800;
/** Page loads that a process remembers, so that a repeated message is not counted twice. */
export const rememberedLoads = 50_000;

/**
 * Reports and dashboards that one process makes at once, and those that wait. A report of a large shop takes some tenths of a second
 * and several connections: without this bound many of them would keep the orders of shoppers waiting.
 */
export const reportSlots = { active: 2, queued: 50 } as const;
