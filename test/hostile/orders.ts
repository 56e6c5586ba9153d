import { randomUUID } from 'node:crypto';
import type { Buyer } from '../faults/test-shop.ts';
import type { Attack, Battle } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker, type Reply } from './attacker.ts';
import { times } from './sockets.ts';

const stock = 20;

type Ask = (path: string, buyer: Buyer, key: string | null, json?: unknown) => Promise<Reply>;

const asks =
  (battle: Battle, attacker: Attacker): Ask =>
  async (path, { token }, key, json = {}) => {
    const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
    const reply = await attacker.ask(battle.target.api.url, path, { token, json, headers });
    battle.sent(1);
    const fault = faultOfReply(reply);
    if (fault) battle.fault(`${path}: ${fault}`);
    return reply;
  };

const idOf = ({ code, text }: Reply): number | null => (code === 0 ? JSON.parse(text).data.id : null);

/** Each key three times at once: one order, one answer, and no more orders than stock. */
async function flashSale(battle: Battle, ask: Ask, buyers: readonly Buyer[], skuId: number) {
  const keyed = buyers.flatMap((buyer) => times(2).map(() => ({ buyer, key: randomUUID() })));
  const answers = await Promise.all(
    keyed.map(async ({ buyer, key }) => {
      const json = { address_id: buyer.address_id, items: [{ sku_id: skuId }], remark: key };
      const replies = await Promise.all(times(3).map(() => ask('/api/v1/orders', buyer, key, json)));
      const ids = new Set(replies.map(idOf).filter((id) => id !== null));
      if (ids.size > 1) battle.fault(`one key was answered with ${ids.size} orders`);
      return { buyer, id: [...ids][0] ?? null };
    }),
  );
  const won = answers.flatMap(({ buyer, id }) => (id === null ? [] : [{ buyer, id }]));
  const remarks = keyed.map(({ key }) => key);
  const [row] = await battle.arena.sql<{ orders: number; left: number }[]>`
    select count(*)::int as orders, (select stock from catalog.product_skus where id = ${skuId}) as left
    from orders.orders where remark = any(${remarks})`;
  if (row!.orders !== stock) battle.fault(`${row!.orders} orders for ${stock} pieces`);
  if (won.length !== stock) battle.fault(`${won.length} buyers were told of an order, ${stock} have one`);
  return won;
}

/** An order that is paid and cancelled at once ends in one of the two. */
async function payOrCancel(battle: Battle, ask: Ask, won: readonly { buyer: Buyer; id: number }[]) {
  const decided = await Promise.all(
    won.map(async ({ buyer, id }) => {
      const verbs = ['pay', 'cancel', 'pay', 'cancel'];
      const replies = await Promise.all(verbs.map((verb) => ask(`/api/v1/orders/${id}/${verb}`, buyer, null)));
      const done = new Set(verbs.filter((_, index) => replies[index]!.code === 0));
      return { id, done: [...done] };
    }),
  );
  const rows = await battle.arena.sql<{ id: number; status: number }[]>`
    select id, status from orders.orders where id = any(${won.map(({ id }) => id)})`;
  const statusOf = new Map(rows.map(({ id, status }) => [id, status]));
  for (const { id, done } of decided) {
    const expected = done[0] === 'pay' ? 2 : 6;
    if (done.length !== 1) battle.fault(`order ${id} was told: ${done.join(' and ') || 'neither'}`);
    else if (statusOf.get(id) !== expected)
      battle.fault(`order ${id}: ${done[0]} succeeded, status ${statusOf.get(id)}`);
  }
}

/** A key with another body, of another account or for another route never answers the first one's outcome. */
async function reusedKeys(battle: Battle, ask: Ask, [one, other]: readonly Buyer[]) {
  const { arena } = battle;
  const body = (of: Buyer, remark: string) => ({
    ...{ address_id: of.address_id, remark },
    items: [{ sku_id: arena.skuIds[0] }],
  });
  const key = randomUUID();
  const first = idOf(await ask('/api/v1/orders', one!, key, body(one!, 'a')));
  const sameKey = await Promise.all([
    ask('/api/v1/orders', one!, key, body(one!, 'b')),
    ask('/api/v1/cart/add', one!, key, { sku_id: arena.skuIds[0] }),
    ask(`/api/v1/orders/${first}/cancel`, one!, key),
  ]);
  for (const reply of sameKey)
    if (reply.code !== 422) battle.fault(`a key used for another request answers ${reply.code} instead of 422`);
  const stranger = idOf(await ask('/api/v1/orders', other!, key, body(other!, 'a')));
  if (stranger === null || stranger === first)
    battle.fault(`another account's key was answered with order ${stranger}`);
}

/** A flood of orders on one SKU sells what there is, once, whatever is repeated, and money races end in one state. */
export const orders: Attack = {
  name: 'orders',
  about: 'hundreds of orders on 20 pieces with the same and other keys, paid and cancelled at once',
  transports: 'any',
  async run(battle) {
    const { arena } = battle;
    const attacker = openAttacker({ sockets: 200 });
    const ask = asks(battle, attacker);
    for (const _round of times(battle.of({ short: 1, long: 5 }))) {
      const { sku_ids } = await arena.goods({ stocks: [stock] });
      const buyers = await arena.shoppers(60);
      const won = await flashSale(battle, ask, buyers, sku_ids[0]!);
      await payOrCancel(battle, ask, won);
      await reusedKeys(battle, ask, buyers);
    }
    attacker.close();
  },
};
