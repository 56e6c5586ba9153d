import type { MakerContext } from './routes/makers.ts';
import { insertProduct } from './shop.ts';

export type RunningOffer = { activity_id: number; row_id: number; product_id: number; sku_id: number };

/** A new product in the running group buy or bargain. Starts one when none runs. For makers of objects. */
export async function makeRunningOffer(
  { shop, sql }: Pick<MakerContext, 'shop' | 'sql'>,
  type: 'group_buy' | 'bargain',
): Promise<RunningOffer> {
  const { id: product_id, sku_ids } = await insertProduct(shop.database, { price: 1_200, stocks: [1_000] });
  const sku_id = sku_ids[0]!;
  const [running] = await sql<{ id: number }[]>`
    update activities.activities set status = 1
    where type = ${type} and deleted_at is null and start_at <= now() and end_at > now() returning id`;
  const [made] = running
    ? [running]
    : await sql<{ id: number }[]>`
        insert into activities.activities (type, name, start_at, end_at)
        values (${type}, 'Running', now() - interval '1 hour', now() + interval '1 day')
        on conflict do nothing returning id`;
  // A concurrent maker has started one.
  if (!made) return makeRunningOffer({ shop, sql }, type);
  const prices =
    type === 'bargain' ? { activity_price: 0, start_price: 900, floor_price: 100 } : { activity_price: 500 };
  const row = { activity_id: made.id, product_id, sku_id, ...prices };
  const [inserted] = await sql<{ id: number }[]>`
    insert into activities.activity_products ${sql(row)} returning id`;
  return { activity_id: made.id, row_id: inserted!.id, product_id, sku_id };
}

/** The newest product in the running group buy or bargain. */
export async function newestOffer(
  { sql }: Pick<MakerContext, 'sql'>,
  type: 'group_buy' | 'bargain',
): Promise<RunningOffer> {
  const [row] = await sql<RunningOffer[]>`
    select r.activity_id, r.id as row_id, r.product_id, r.sku_id
    from activities.activity_products r join activities.activities a on a.id = r.activity_id
    where a.type = ${type} and a.deleted_at is null and a.start_at <= now() and a.end_at > now() and r.removed_at is null
    order by r.id desc limit 1`;
  if (!row) throw new Error(`no ${type} runs`);
  return row;
}
