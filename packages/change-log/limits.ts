/** The count of a list ends here, and so do its pages. Older changes are found with `to`. */
export const mostCounted = 10_000;
/** A keyword is searched in the newest changes that match the other filters, because no index has the values. */
export const mostSearched = 50_000;
/** Changes that an export reads with one statement. */
export const exportPage = 1_000;
