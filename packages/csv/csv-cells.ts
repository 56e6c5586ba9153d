/**
 * Exact conversion of values to cells and back. A spreadsheet program runs a cell that begins with one of these
 * characters as a formula. The export therefore puts an apostrophe before it, and the import removes it.
 */
const formula = /^[=+\-@\t\r'＝＋－＠]/;
const emptyText = '""';

/** A text as a cell. */
export const textCell = (text: string): string => (text === emptyText || formula.test(text) ? `'${text}` : text);

/** The text of a cell. `""` is an empty text; an empty cell means no text. */
export function textOf(cell: string): string {
  if (cell === emptyText) return '';
  return cell[0] === "'" && (cell.slice(1) === emptyText || formula.test(cell.slice(1))) ? cell.slice(1) : cell;
}

/** An optional text. An absent text is an empty cell, and an empty text is `""`. */
export const optionalTextCell = (text: string | undefined): string =>
  text === undefined ? '' : text === '' ? emptyText : textCell(text);

/** Minor units as decimals. */
export function amountCell(minor: number): string {
  const cents = String(minor).padStart(3, '0');
  return `${cents.slice(0, -2)}.${cents.slice(-2)}`;
}

/**
 * Converts currency units to minor units; null when the cell is not an amount. Many spreadsheet programs write a
 * decimal comma.
 */
export const amountOf = (cell: string): number | null =>
  /^\d{1,12}([.,]\d{1,2})?$/.test(cell) ? Number(cell.replace(',', '.')) : null;

export const integerOf = (cell: string): number | null => (/^-?\d{1,15}$/.test(cell) ? Number(cell) : null);
