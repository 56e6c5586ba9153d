import { allocate, type Minor } from '@tradepost/core';

/** What the buyer paid for the first `count` pieces of a line of `qty` pieces. */
const firstPieces = (payable: Minor, qty: number, count: number): Minor => allocate(payable, [count, qty - count])[0]!;

/**
 * The share of a line's payable amount for `qty` pieces, after `refunded` pieces were refunded earlier. It is the
 * difference of two running totals, so the shares of all pieces add up to the payable amount exactly, however the pieces
 * are divided between cases.
 */
export function lineShare(line: { qty: number; payable_amount: Minor }, refunded: number, qty: number): Minor {
  const { payable_amount } = line;
  return firstPieces(payable_amount, line.qty, refunded + qty) - firstPieces(payable_amount, line.qty, refunded);
}
