import { createHash } from 'node:crypto';
import { instantInZone } from '@tradepost/core';
import { readCsvLines, textOf } from '@tradepost/csv';
import type { ImportFile } from './import-store.ts';
import { groupOrders, ordersCsv } from './order-drafts.ts';

/** Counts the orders of a file, and says whether its first order is newer than its last one. Faults are found later. */
export async function checkFile(input: AsyncIterable<Uint8Array>, zone: string): Promise<ImportFile> {
  const hash = createHash('sha256');
  async function* hashed() {
    for await (const bytes of input) {
      hash.update(bytes);
      yield bytes;
    }
  }
  let orders = 0;
  let first: string | undefined;
  let last = '';
  for await (const item of groupOrders(readCsvLines(hashed(), ordersCsv))) {
    if (!('lines' in item)) continue;
    orders += 1;
    last = textOf(item.lines[0]!.cells.get('created_at') ?? '').trim();
    first ??= last;
  }
  const at = (text: string) => Number(instantInZone(text, zone, 'start') ?? 0);
  return { digest: hash.digest(), orders, newest_first: at(first ?? '') >= at(last) };
}
