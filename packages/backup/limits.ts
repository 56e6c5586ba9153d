/** Rows and files of a part before compression, in bytes. A longer row makes a longer part. */
export const partBytes = 4 * 2 ** 20;
/** Parts that are compressed and written at once. With `partBytes` it bounds the memory of a backup. */
export const partsAtOnce = 3;
/** Connections that read or write tables at once. */
export const connectionsAtOnce = 2;
/** The largest manifest that is read: about a million parts. */
export const maxManifestBytes = 256 * 2 ** 20;
/** Backups that a list shows. */
export const listedBackups = 1_000;
/** Reasons of files that were not written, in a report. */
export const reportedFiles = 20;
