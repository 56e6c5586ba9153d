import { randomUUID } from 'node:crypto';
import type { Buyer } from '../faults/test-shop.ts';
import type { Attack, AttackRun } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker, type Reply } from './attacker.ts';
import { times } from './sockets.ts';

const stock = 20;

type Ask = (path: string, buyer: Buyer, key: string | null, json?: unknown) => Promise<Reply>;

const asks =
  (attackRun: AttackRun, attacker: Attacker): Ask =>
  async (path, { token }, key, json = {}) => {
    const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
    const reply = await attacker.ask(attackRun.target.api.url, path, { token, json, headers });
    attackRun.sent(1);
    const fault = faultOfReply(reply);
    if (fault) attackRun.fault(`${path}: ${fault}`);
    return reply;
  };

const idOf = ({ code, text }: Reply): number | null => (code === 0 ? JSON.parse(text).data.id : null);

/** Sends each key three times at once. There must be one order and one answer for a key, and no more orders than stock. */
async function flashSale(attackRun: AttackRun, ask: Ask, buyers: readonly Buyer[], skuId: number) {
  const keyed = buyers.flatMap((buyer) => times(2).map(() => ({ buyer, key: randomUUID() })));
  const answers = await Promise.all(
    keyed.map(async ({ buyer, key }) => {
      const json = { address_id: buyer.address_id, items: [{ sku_id: skuId }], remark: key };
      const replies = await Promise.all(times(3).map(() => ask('/api/v1/orders', buyer, key, json)));
      const ids = new Set(replies.map(idOf).filter((id) => id !== null));
      if (ids.size > 1) attackRun.fault(`one key was answered with ${ids.size} orders`);
      return { buyer, id: [...ids][0] ?? null };
    }),
  );
  const won = answers.flatMap(({ buyer, id }) => (id === null ? [] : [{ buyer, id }]));
  const remarks = keyed.map(({ key }) => key);
  const [row] = await attackRun.servers.sql<{ orders: number; left: number }[]>`
    select count(*)::int as orders, (select stock from catalog.product_skus where id = ${skuId}) as left
    from orders.orders where remark = any(${remarks})`;
  if (row!.orders !== stock) attackRun.fault(`${row!.orders} orders for ${stock} pieces`);
  if (won.length !== stock) attackRun.fault(`${won.length} buyers got an order in the answer, ${stock} have one`);
  return won;
}

/** An order that is paid and cancelled at the same time is paid or cancelled. */
async function payOrCancel(attackRun: AttackRun, ask: Ask, won: readonly { buyer: Buyer; id: number }[]) {
  const decided = await Promise.all(
    won.map(async ({ buyer, id }) => {
      const verbs = ['pay', 'cancel', 'pay', 'cancel'];
      const replies = await Promise.all(verbs.map((verb) => ask(`/api/v1/orders/${id}/${verb}`, buyer, null)));
      const done = new Set(verbs.filter((_, index) => replies[index]!.code === 0));
      return { id, done: [...done] };
    }),
  );
  const rows = await attackRun.servers.sql<{ id: number; status: number }[]>`
    select id, status from orders.orders where id = any(${won.map(({ id }) => id)})`;
  const statusOf = new Map(rows.map(({ id, status }) => [id, status]));
  for (const { id, done } of decided) {
    const expected = done[0] === 'pay' ? 2 : 6;
    if (done.length !== 1) attackRun.fault(`order ${id}: confirmed actions: ${done.join(' and ') || 'neither'}`);
    else if (statusOf.get(id) !== expected)
      attackRun.fault(`order ${id}: ${done[0]} succeeded, status ${statusOf.get(id)}`);
  }
}

/** A key with another body, account or route never gets the outcome of the first request. */
async function reusedKeys(attackRun: AttackRun, ask: Ask, [one, other]: readonly Buyer[]) {
  const { servers } = attackRun;
  const body = (of: Buyer, remark: string) => ({
    ...{ address_id: of.address_id, remark },
    items: [{ sku_id: servers.skuIds[0] }],
  });
  const key = randomUUID();
  const first = idOf(await ask('/api/v1/orders', one!, key, body(one!, 'a')));
  const sameKey = await Promise.all([
    ask('/api/v1/orders', one!, key, body(one!, 'b')),
    ask('/api/v1/cart/add', one!, key, { sku_id: servers.skuIds[0] }),
    ask(`/api/v1/orders/${first}/cancel`, one!, key),
  ]);
  for (const reply of sameKey)
    if (reply.code !== 422) attackRun.fault(`a key used for another request answers ${reply.code} instead of 422`);
  const foreignOrder = idOf(await ask('/api/v1/orders', other!, key, body(other!, 'a')));
  if (foreignOrder === null || foreignOrder === first)
    attackRun.fault(`another account's key was answered with order ${foreignOrder}`);
}

/** Many concurrent and repeated orders sell each piece once, and concurrent payment and cancellation end in one state. */
export const orders: Attack = {
  name: 'orders',
  about: 'hundreds of orders for 20 pieces with equal and different keys, paid and cancelled at the same time',
  transports: 'any',
  async run(attackRun) {
    const { servers } = attackRun;
    const attacker = openAttacker({ sockets: 200 });
    const ask = asks(attackRun, attacker);
    for (const _round of times(attackRun.of({ short: 1, long: 5 }))) {
      const { sku_ids } = await servers.goods({ stocks: [stock] });
      const buyers = await servers.shoppers(60);
      const won = await flashSale(attackRun, ask, buyers, sku_ids[0]!);
      await payOrCancel(attackRun, ask, won);
      await reusedKeys(attackRun, ask, buyers);
    }
    attacker.close();
  },
};
