import { stringify } from 'csv-stringify/sync';

/** The beginning of a file. Without it, spreadsheet programs use the regional encoding. */
export const byteOrderMark = '\ufeff';

/** Rows as lines. Quotes cells with characters that a reader could take for the end of a line, or trim. */
export const toCsv = (rows: readonly (readonly string[])[]): string =>
  stringify(rows as string[][], { record_delimiter: '\r\n', quoted_match: /[\r\n;\t]|^\s|\s$/ });
