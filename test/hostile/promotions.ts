import type { Buyer } from '../faults/test-shop.ts';
import type { Attack, AttackRun } from './attack.ts';
import { type Asked, type Attacker, faultOfReply, openAttacker, type Reply } from './attacker.ts';
import { type Promotions, startPromotions } from './promotion-goods.ts';
import { inParallel, times } from './sockets.ts';

/** What the attackers use: one round of goods and shoppers on one server. */
type Round = {
  attackRun: AttackRun;
  promotions: Promotions;
  shoppers: readonly Buyer[];
  ask(path: string, token: string, asked?: Asked): Promise<Reply>;
};

const dataOf = (reply: Reply | undefined) => (reply?.code === 0 ? JSON.parse(reply.text).data : null);
const won = (replies: readonly Reply[]): Reply[] => replies.filter(({ code }) => code === 0);
const orderOf = ({ address_id }: Buyer, items: readonly object[], choices: object = {}) => ({
  json: { address_id, items, ...choices },
});

const asks =
  (attackRun: AttackRun, attacker: Attacker): Round['ask'] =>
  async (path, token, asked = {}) => {
    const reply = await attacker.ask(attackRun.target.api.url, path, { method: 'POST', token, ...asked });
    attackRun.sent(1);
    const fault = faultOfReply(reply);
    if (fault) attackRun.fault(`${path}: ${fault}`);
    return reply;
  };

/** Every shopper sends the request several times at once. Returns the successes of each shopper. */
async function flood(
  { shoppers, ask }: Round,
  count: number,
  path: string,
  asked?: (of: Buyer) => Asked,
): Promise<number[]> {
  return Promise.all(
    shoppers.map(async (buyer) => {
      const replies = await Promise.all(times(count).map(() => ask(path, buyer.token, asked?.(buyer))));
      return won(replies).length;
    }),
  );
}

/** Checks the successes of each shopper and of all together. */
function checkWinners(
  { attackRun }: Round,
  what: string,
  successes: readonly number[],
  each: number,
  all: number,
): void {
  const most = Math.max(...successes);
  if (most > each) attackRun.fault(`${what}: one shopper succeeded ${most} times (at most ${each})`);
  const total = successes.reduce((sum, n) => sum + n, 0);
  if (total !== all) attackRun.fault(`${what}: ${total} requests succeeded instead of ${all}`);
}

/** Check-ins, claims, exchanges and a flash sale, each many times at once by everyone. */
async function scarceThings(round: Round): Promise<void> {
  const { promotions, shoppers } = round;
  const { pieces, coupon, mallProduct, sale } = promotions;
  // A check-in gives the points of one exchange.
  checkWinners(round, 'check-ins', await flood(round, 4, '/api/v1/checkin'), 1, shoppers.length);
  checkWinners(round, 'claims', await flood(round, 3, `/api/v1/coupons/${coupon}/claim`), 1, pieces);
  checkWinners(round, 'exchanges', await flood(round, 3, `/api/v1/points/products/${mallProduct}/exchange`), 1, pieces);
  const buy = (buyer: Buyer) => orderOf(buyer, [sale]);
  checkWinners(round, 'orders of the flash sale', await flood(round, 2, '/api/v1/orders', buy), 2, pieces);
}

/** Coupons of a shopper that can be used. */
async function couponsOf({ ask }: Round, { token }: Buyer): Promise<number[]> {
  const rows = dataOf(await ask('/api/v1/user/coupons?status=1', token, { method: 'GET' })) as { id: number }[] | null;
  return (rows ?? []).map(({ id }) => id);
}

/** One coupon, and one balance of points, in many orders at once: one order is placed. */
async function usedOnce(round: Round): Promise<void> {
  const { attackRun, promotions, shoppers, ask } = round;
  let coupons = 0;
  let balances = 0;
  await inParallel(shoppers, 8, async (buyer) => {
    const [coupon] = await couponsOf(round, buyer);
    const { points = 0 } = dataOf(await ask('/api/v1/points/balance', buyer.token, { method: 'GET' })) ?? {};
    const choices = coupon !== undefined ? { coupon_ids: [coupon] } : { points_use: points };
    if (coupon === undefined && points === 0) return;
    if (coupon !== undefined) coupons += 1;
    else balances += 1;
    const lines = times(5).map((n) => [{ sku_id: promotions.skuIds[n % promotions.skuIds.length] }]);
    const replies = await Promise.all(
      lines.map((items) => ask('/api/v1/orders', buyer.token, orderOf(buyer, items, choices))),
    );
    const placed = won(replies).length;
    if (placed !== 1) attackRun.fault(`${placed} of 5 orders at once were placed with ${JSON.stringify(choices)}`);
  });
  if (coupons === 0 || balances === 0)
    attackRun.fault(`${coupons} coupons and ${balances} balances were used, so the attack tested nothing`);
}

/** Ids of others and numbers out of range. None is accepted, and no order of them reaches another shopper. */
async function tampered(round: Round): Promise<void> {
  const { attackRun, promotions, shoppers, ask } = round;
  const { sale, skuIds, openCoupon } = promotions;
  const [victim, thief] = shoppers as [Buyer, Buyer];
  for (const { token } of [victim, thief]) await ask(`/api/v1/coupons/${openCoupon}/claim`, token);
  const [theirs] = await couponsOf(round, victim);
  const [own] = await couponsOf(round, thief);
  if (theirs === undefined || own === undefined) return attackRun.fault('no coupon was claimed: nothing was tampered');
  const line = { sku_id: skuIds[0] };
  // A number as a text is a number, and null is absent: both are harmless.
  const outOfRange = [2 ** 31, 2 ** 53, 1e15, 1e308, -1, 1.5, 'seven', true, {}, [1]];
  const bodies: object[] = [
    orderOf(thief, [line], { coupon_ids: [theirs] }).json,
    orderOf(thief, [line], { coupon_ids: [own, theirs] }).json,
    orderOf(thief, [line], { coupon_ids: times(20_000).map((n) => n + 1) }).json,
    orderOf(thief, [line], { coupon_ids: times(21).map(() => own) }).json,
    orderOf(thief, [line], { coupon_ids: { length: 1e9, 0: own } }).json,
    orderOf(thief, [{ ...line, activity_product_id: sale.activity_product_id }]).json,
    orderOf(thief, [line, { ...sale, activity_product_id: 999_999_999 }]).json,
    ...outOfRange.map((n) => orderOf(thief, [line], { points_use: n }).json),
    ...outOfRange.map((n) => orderOf(thief, [line], { coupon_ids: [n] }).json),
  ];
  for (const path of ['/api/v1/orders/quote', '/api/v1/orders'])
    await inParallel(bodies, 16, async (json) => {
      const reply = await ask(path, thief.token, { json });
      const shown = JSON.stringify(json).slice(0, 200);
      if (reply.code === 0) attackRun.fault(`${path} accepts ${shown}`);
    });
  const twice = await ask('/api/v1/orders', thief.token, orderOf(thief, [line], { coupon_ids: [own, own] }));
  if (dataOf(twice)?.discounts?.length !== 1)
    attackRun.fault(`one coupon named twice is answered with ${twice.text.slice(0, 300)}`);
  if (!(await couponsOf(round, victim)).includes(theirs)) attackRun.fault('the coupon of another shopper was used');
  await inParallel(outOfRange, 16, async (qty) => {
    const reply = await ask(`/api/v1/points/products/${promotions.openProduct}/exchange`, victim.token, {
      json: { qty },
    });
    if (reply.code === 0) attackRun.fault(`an exchange of ${JSON.stringify(qty)} pieces is accepted`);
  });
}

/** One order in many groups at once, orders of others, and a full group. */
async function groups(round: Round): Promise<void> {
  const { attackRun, promotions, shoppers, ask } = round;
  const { offer, line, size } = promotions.group;
  const [leader, victim, ...joiners] = shoppers as [Buyer, Buyer, ...Buyer[]];
  const opened = await Promise.all(times(8).map(() => ask('/api/v1/group-buy/orders', leader.token, { json: offer })));
  const ids = won(opened).map((reply): number => dataOf(reply).id);
  const join = (group: number, token: string, order_id: unknown) =>
    ask(`/api/v1/group-buy/orders/${group}/join`, token, { json: { order_id } });
  const place = async (buyer: Buyer): Promise<number> =>
    dataOf(await ask('/api/v1/orders', buyer.token, orderOf(buyer, [line])))?.id ?? 0;
  const [order, foreign] = [await place(joiners[0]!), await place(victim)];
  const everywhere = await Promise.all(ids.map((group) => join(group, joiners[0]!.token, order)));
  if (won(everywhere).length !== 1)
    attackRun.fault(`one order joined ${won(everywhere).length} of ${ids.length} groups`);
  for (const order_id of [foreign, 0, -1, 2 ** 53, 999_999_999, 'x', null])
    if ((await join(ids[0]!, joiners[1]!.token, order_id)).code === 0)
      attackRun.fault(`a group was joined with the order ${order_id} of another shopper`);
  const replies = await Promise.all(
    joiners.slice(1).map(async (one) => join(ids.at(-1)!, one.token, await place(one))),
  );
  // The order that joined everywhere may be a member.
  const [row] = await attackRun.servers.sql<{ members: number; joined_count: number }[]>`
    select count(m.id)::int as members, g.joined_count from group_buy.groups g
    join group_buy.members m on m.group_id = g.id where g.id = ${ids.at(-1)!} group by g.id`;
  if (row?.members !== size || row.joined_count !== size || won(replies).length > size - 1)
    attackRun.fault(`a group of ${size}: ${JSON.stringify(row)}, ${won(replies).length} joins were confirmed`);
}

/** One helper many times, the owner, and two purchases of one bargain at once. */
async function bargains(round: Round): Promise<void> {
  const { attackRun, promotions, shoppers, ask } = round;
  const { offer, line, helpers, floor } = promotions.bargain;
  const [owner, ...others] = shoppers as [Buyer, ...Buyer[]];
  const opened = await Promise.all(times(8).map(() => ask('/api/v1/bargain/orders', owner.token, { json: offer })));
  const ids = new Set(won(opened).map((reply): number => dataOf(reply).id));
  if (ids.size !== 1) attackRun.fault(`${ids.size} bargains were opened at once for one product`);
  const [id] = [...ids];
  const help = (token: string) => ask(`/api/v1/bargain/orders/${id}/help`, token);
  const often = await Promise.all(times(20).map(() => help(others[0]!.token)));
  if (won(often).length !== 1) attackRun.fault(`one person helped ${won(often).length} times`);
  if ((await help(owner.token)).code === 0) attackRun.fault('an owner helped the own bargain');
  const crowd = await Promise.all(others.slice(1).map(({ token }) => help(token)));
  if (won(crowd).length !== helpers - 1) attackRun.fault(`${won(crowd).length + 1} helped (at most ${helpers})`);
  const buyers = [owner, owner, owner, others[0]!];
  const orders = await Promise.all(buyers.map((one) => ask('/api/v1/orders', one.token, orderOf(one, [line]))));
  const atFloor = won(orders).filter((reply) => dataOf(reply).total_amount === floor);
  if (atFloor.length !== 1) attackRun.fault(`${atFloor.length} orders bought one bargain at its floor price`);
}

/** The whole balance many times at once, amounts out of range, and all decisions of staff at once. */
async function withdrawals(round: Round): Promise<void> {
  const { attackRun, promotions, ask } = round;
  const { distributor, available } = promotions;
  const account = { bank_name: 'Bank', bank_account: '6222020200112233', account_name: 'Ann' };
  const request = (token: string, amount: unknown) =>
    ask('/api/v1/distribution/withdrawals', token, { json: { ...account, amount } });
  for (const amount of [0, -available, 1e15, 2 ** 53, 0.001, available + 0.01, 'all', null])
    if ((await request(distributor.token, amount)).code === 0)
      attackRun.fault(`a withdrawal of ${amount} of ${available} is accepted`);
  if ((await request(round.shoppers[0]!.token, available)).code === 0)
    attackRun.fault('a shopper who is no distributor asked for a withdrawal');
  const replies = won(await Promise.all(times(20).map(() => request(distributor.token, available))));
  if (replies.length !== 1) return attackRun.fault(`the whole balance was asked for ${replies.length} times`);
  const { id } = dataOf(replies[0]);
  const moves = ['approve', 'reject', 'complete', 'approve', 'complete', 'reject', 'complete', 'approve'];
  const decide = (move: string) =>
    ask(`/admin/api/distribution/withdrawals/${id}/${move}`, attackRun.servers.staff, { json: { reason: 'Race' } });
  for (const decided of [await Promise.all(moves.map(decide)), await Promise.all(moves.map(decide))]) {
    const count = (move: string) => decided.filter(({ code }, n) => code === 0 && moves[n] === move).length;
    if (count('complete') > 1 || count('approve') > 1 || count('reject') > 1)
      attackRun.fault(`a decision about a withdrawal was taken twice: ${moves.map(count)}`);
  }
}

/** What shoppers can use once is used once, also when they send it many times, and what belongs to others is refused. */
export const promotions: Attack = {
  name: 'promotions',
  about: 'coupons, points, flash sales, groups, bargains and withdrawals: raced, out of range, and with ids of others',
  transports: 'any',
  async run(attackRun) {
    const attacker = openAttacker({ sockets: 200 });
    const ask = asks(attackRun, attacker);
    for (const _round of times(attackRun.of({ short: 1, long: 3 }))) {
      const shoppers = await attackRun.servers.shoppers(attackRun.of({ short: 16, long: 60 }));
      const round: Round = { attackRun, promotions: await startPromotions(attackRun), shoppers, ask };
      await scarceThings(round);
      await usedOnce(round);
      await tampered(round);
      await groups(round);
      await bargains(round);
      await withdrawals(round);
    }
    attacker.close();
  },
};
