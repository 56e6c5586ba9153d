import type { Attack, AttackRun } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker, type Reply } from './attacker.ts';
import { times } from './sockets.ts';

/** The most coupons of one request (`maxSend` of marketing), which the long form sends at once. */
const mostSent = 100_000;
const shoppers = { short: 2_000, long: mostSent } as const;

const sentIn = ({ code, text }: Reply): number => (code === 0 ? JSON.parse(text).data.sent_count : 0);

/** Sends requests of staff, all at once. Answers their replies. */
async function staffCalls(
  { servers, target, ...attackRun }: AttackRun,
  attacker: Attacker,
  path: string,
  bodies: readonly object[],
): Promise<Reply[]> {
  return Promise.all(
    bodies.map(async (json) => {
      const reply = await attacker.ask(target.api.url, path, { token: servers.staff, json, limitMs: 60_000 });
      attackRun.sent(1);
      const fault = faultOfReply(reply);
      if (fault) attackRun.fault(`${path}: ${fault}`);
      return reply;
    }),
  );
}

/** Sends of one coupon to all shoppers at once give each shopper one, and do not stop the shop. */
export const couponSends: Attack = {
  name: 'coupon-sends',
  about: 'staff send a coupon to 100,000 shoppers, several times at once, with counts out of range beside them',
  transports: 'any',
  async run(attackRun) {
    const { sql } = attackRun.servers;
    const attacker = openAttacker();
    await sql`
      insert into identity.shoppers (nickname)
      select 'receiver ' || n from generate_series(1, ${attackRun.of(shoppers)}::int) as n
      where (select count(*) from identity.shoppers) < ${attackRun.of(shoppers)}::int`;
    const coupon = { name: 'For all', type: 3, discount: 1, per_limit: 1 };
    const [made] = await staffCalls(attackRun, attacker, '/admin/api/marketing/coupons', [coupon]);
    const { id } = JSON.parse(made!.text).data;
    const path = `/admin/api/marketing/coupons/${id}/send`;
    const refused = [0, -1, 1.5, mostSent + 1, 2 ** 31, 2 ** 53, 1e308, 'all', null].map((count) => ({ count }));
    const sends = times(4).map(() => ({ count: mostSent }));
    const [bad, good] = await Promise.all([
      staffCalls(attackRun, attacker, path, refused),
      staffCalls(attackRun, attacker, path, sends),
    ]);
    for (const [index, { code }] of bad.entries())
      if (code === 0) attackRun.fault(`a send is accepted: ${JSON.stringify(refused[index])}`);
    const sent = good.reduce((sum, reply) => sum + sentIn(reply), 0);
    const [row] = await sql<{ rows: number; receivers: number }[]>`
      select count(*)::int as rows, count(distinct user_id)::int as receivers
      from marketing.user_coupons where coupon_id = ${id}`;
    if (row!.rows !== sent || row!.receivers !== sent)
      attackRun.fault(
        `${sent} coupons were sent by the answers, ${row!.rows} to ${row!.receivers} shoppers are stored`,
      );
    if (sent < attackRun.of(shoppers))
      attackRun.fault(`only ${sent} of ${attackRun.of(shoppers)} shoppers got a coupon`);
    attacker.close();
  },
};
