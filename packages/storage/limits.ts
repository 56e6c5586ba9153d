/** The largest value of the setting for the size of a file. MAX_UPLOAD_BYTES limits the whole request. */
export const largestFile = 2 ** 30;

/** Bounds of the form beside the file. */
export const formLimits = { fields: 16, fieldNameSize: 100, fieldSize: 1_024, files: 4, parts: 20, headerPairs: 20 };

/**
 * An upload or removal that has not ended after this time has been lost: its process ended. The slowest upload of the
 * largest request takes less than five hours.
 */
export const lostAfterMs = 6 * 60 * 60 * 1000;

/** Files that one batch of a sweep compares with the references. Each batch reads the tables of all packages that refer to files once. */
export const sweepBatch = 20_000;
/** Paths that a report of a sweep names. */
export const reportedPaths = 1_000;
