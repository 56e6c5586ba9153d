import { fill, type RefusalValues } from '@tradepost/core';

/** A fault of one line. `field` is the column, or `-` for the whole line. */
export type CsvFault = { line: number; field: string; message: string };

/** The whole file cannot be read further. Rows that are committed stay. */
class CsvFileError extends Error {
  override name = 'CsvFileError';
}

/** Makes the faults of a table of texts. Commands show them, so they are in English only. */
export const csvFaults = <N extends string>(texts: Readonly<Record<N, string>>) => ({
  fault: (line: number, field: string, name: N, values: RefusalValues = {}): CsvFault => ({
    ...{ line, field },
    message: fill(texts[name], values),
  }),
  fileError: (line: number, name: N, values: RefusalValues = {}): Error =>
    new CsvFileError(`line ${line}: ${fill(texts[name], values)}`),
});
