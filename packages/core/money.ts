/**
 * Money is an integer number of minor units (cents) inside and a number with two decimals on the wire.
 * The bound keeps every sum of a large order inside the safe integers.
 */
export type Minor = number;

export const maxMinor = 99_999_999_99;

/** Wire number to minor units, half away from zero, as the contract rounds. Throws RangeError when not a finite amount. */
export function toMinor(amount: number): Minor {
  if (!Number.isFinite(amount)) throw new RangeError('amount is not finite');
  // 1.005 * 100 is 100.49999999999999: the decimal text of the number is what the sender meant.
  const scaled = Number(`${Math.abs(amount)}e2`);
  const cents = Number.isNaN(scaled) ? Math.round(Math.abs(amount) * 100) : Math.round(scaled);
  if (cents > maxMinor) throw new RangeError('amount is too large');
  return amount < 0 ? 0 - cents : cents;
}

export function toWire(minor: Minor): number {
  return minor / 100;
}

/**
 * Spreads `total` over `weights` so that the shares add up to it exactly (largest remainder; ties go to the earlier line).
 * All integers; `total` and weights >= 0. With no weight at all everything goes to the first line.
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
    // Exact: total * weight can pass 2^53.
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
