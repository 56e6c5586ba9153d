import { auditViolations } from '@tradepost/testing/audit-violations';
import { openExternalShop } from '@tradepost/testing/external-shop';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { stockWarehouses } from '@tradepost/testing/warehouses';
import { expect, test } from 'vitest';
import { type BoughtOrder, openCaseShop } from '../testing/case-shop.ts';

/** The goods of returns and exchanges move at the inventory provider in force. */
async function endBothChains(shop: Shop, stocked: (skuIds: readonly number[]) => Promise<unknown>) {
  const at = await openCaseShop(shop);
  const [returned, exchanged] = [
    await at.buy({ quantities: [3], stocked }),
    await at.buy({ quantities: [2], stocked }),
  ];
  const end = async (order: BoughtOrder, type: 'return' | 'exchange') => {
    const id = await at.openCase(order, type, 2);
    await at.bring(order, id, type, 'completed');
    return (await at.detail(id)).case_no as string;
  };
  return { at, returned, exchanged, cases: [await end(returned, 'return'), await end(exchanged, 'exchange')] };
}

test('in warehouses: inbound and outbound documents of the case', async () => {
  const shop = await openShop({}, { 'inventory.provider': 'builtin_wms' });
  try {
    const { sql } = shop.database;
    const { returned, exchanged, cases } = await endBothChains(shop, (skuIds) =>
      stockWarehouses(sql, { W1: Object.fromEntries(skuIds.map((id) => [id, 100])) }),
    );
    const documents = await sql`
      select d.biz_no, d.biz_type, d.doc_type, i.sku_id, i.qty
      from inventory.stock_documents d join inventory.stock_document_items i on i.doc_id = d.id
      where d.biz_no = any(${cases}::text[]) and d.status = 'completed' order by d.id`;
    expect(documents.map((row) => Object.values(row))).toEqual([
      [cases[0], 'restore', 'inbound', returned.sku_ids[0], 2],
      [cases[1], 'restore', 'inbound', exchanged.sku_ids[0], 2],
      [cases[1], 'deduct', 'outbound', exchanged.sku_ids[0], 2],
    ]);
    const stock = await sql`
      select sku_id, qty, reserved_qty from inventory.inventory_stock
      where sku_id = any(${[...returned.sku_ids, ...exchanged.sku_ids]}::bigint[]) order by sku_id`;
    expect(stock.map((row) => [row.qty, row.reserved_qty])).toEqual([
      [99, 0],
      [98, 0],
    ]);
    expect(await auditViolations(sql)).toEqual([]);
  } finally {
    await shop.close();
  }
});

test('at an external warehouse: one task for what came back and one for what left', async () => {
  const { shop, simulator, close } = await openExternalShop('sync');
  try {
    const { sql } = shop.database;
    const { cases, returned, exchanged } = await endBothChains(shop, (skuIds) =>
      Promise.all(skuIds.map((id) => simulator.setStock(id, 100))),
    );
    const tasks = await sql`
      select biz_no, action from inventory.inventory_integration_tasks where biz_no = any(${cases}::text[]) order by id`;
    expect(tasks.map((row) => [row.biz_no, row.action])).toEqual([
      [cases[0], 'restore'],
      [cases[1], 'restore'],
      [cases[1], 'deduct'],
    ]);
    const onHand = () =>
      [returned, exchanged].map(
        ({ sku_ids }) => simulator.ledger().skus.find((row) => row.sku_id === sku_ids[0])?.on_hand,
      );
    await expect.poll(onHand, { timeout: 20_000, interval: 200 }).toEqual([99, 98]);
    expect(await auditViolations(sql)).toEqual([]);
  } finally {
    await close();
  }
});
