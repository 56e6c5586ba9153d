/**
 * Splits the rows of a statement that joins one row `counted (total_found)` with a page. Beyond the last page there is one row, with
 * the total and nulls.
 */
export const countedPage = <Row extends { id: number }>(
  found: readonly (Row & { total_found: number })[],
): { rows: Row[]; total: number } => ({
  rows: found.filter(({ id }) => id !== null).map(({ total_found: _total, ...row }) => row as unknown as Row),
  total: found[0]?.total_found ?? 0,
});
