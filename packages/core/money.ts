/** An amount of money as an integer number of minor units (cents). On the wire it is a number with two decimals. */
export type Minor = number;

/** The largest amount. Sums of a large order stay within the safe integers. */
export const maxMinor = 99_999_999_99;

/**
 * Converts a number of the wire to minor units and rounds half away from zero. Throws RangeError for an amount that is
 * not finite or too large.
 */
export function toMinor(amount: number): Minor {
  if (!Number.isFinite(amount)) throw new RangeError('amount is not finite');
  // 1.005 * 100 is 100.49999999999999. The sender meant the decimal text of the number, so the text is scaled.
  const scaled = Number(`${Math.abs(amount)}e2`);
  const cents = Number.isNaN(scaled) ? Math.round(Math.abs(amount) * 100) : Math.round(scaled);
  if (cents > maxMinor) throw new RangeError('amount is too large');
  return amount < 0 ? 0 - cents : cents;
}

/** Whether an amount of the wire has at most two decimals. False for an amount that `toMinor` refuses. */
export const isWholeCents = (amount: number): boolean =>
  Math.abs(amount) <= toWire(maxMinor) && toWire(toMinor(amount)) === amount;

export function toWire(minor: Minor): number {
  return minor / 100;
}

/**
 * Divides `total` in proportion to `weights`. The shares add up to the total exactly: cents that are left go to the
 * largest remainders, with ties to the earlier line. `total` and weights are integers >= 0. When all weights are 0, the
 * first line gets the total.
 */
export function allocate(total: Minor, weights: readonly number[]): Minor[] {
  if (weights.length === 0) {
    if (total !== 0) throw new RangeError('nothing to allocate to');
    return [];
  }
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum === 0) return weights.map((_, i) => (i === 0 ? total : 0));
  const sumBig = BigInt(sum);
  const rows = weights.map((weight, index) => {
    // BigInt, because total * weight can exceed 2^53.
    const product = BigInt(total) * BigInt(weight);
    return { index, share: Number(product / sumBig), remainder: product % sumBig };
  });
  let left = total - rows.reduce((a, row) => a + row.share, 0);
  const byRemainder = [...rows].sort((a, b) =>
    a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1,
  );
  for (const row of byRemainder) {
    if (left === 0) break;
    row.share += 1;
    left -= 1;
  }
  return rows.map((row) => row.share);
}
