import { pointsType, writePoints } from '@tradepost/points';
import type { Sql } from '@tradepost/postgres';
import type { Answer } from '@tradepost/testing/client';

type Caller = { readonly token: string };
type Call = (
  method: string,
  path: string,
  options: { token?: string; body?: unknown; lang?: string; headers?: Record<string, string> },
) => Promise<Answer>;

let keys = 0;

/** Products and exchanges of a shop over HTTP. `staff` is the token of an administrator. */
export function mallOf(shop: { call: Call }, sql: Sql, staff: string) {
  const admin = (method: string, path: string, body?: unknown, lang = 'en') =>
    shop.call(method, `/admin/api/points${path}`, { token: staff, body, lang });
  return {
    admin,
    /** Creates a product and answers it. */
    async product(fields: Record<string, unknown> = {}) {
      const answer = await admin('POST', '/products', { title: 'Mug', type: 'physical', points_price: 100, ...fields });
      if (answer.code !== 0) throw new Error(answer.message);
      return answer.data;
    },
    /** Gives points to a shopper. */
    give(user_id: number, points: number) {
      keys += 1;
      const entry = { user_id, points, type: pointsType.adjustment, related_id: 0, remark: '', key: `test:${keys}` };
      return sql.begin((tx) => writePoints(tx, [entry], new Date()));
    },
    exchange: (
      shopper: Caller,
      productId: number,
      body: unknown = {},
      options: { lang?: string; headers?: Record<string, string> } = {},
    ) =>
      shop.call('POST', `/api/v1/points/products/${productId}/exchange`, {
        lang: 'en',
        ...options,
        token: shopper.token,
        body,
      }),
    async balance(userId: number): Promise<number> {
      const [row] = await sql<{ balance: number }[]>`select balance from points.accounts where user_id = ${userId}`;
      return row?.balance ?? 0;
    },
    /** The product as shoppers see it. */
    shelf: async (productId: number, token?: string) =>
      (await shop.call('GET', `/api/v1/points/products/${productId}`, token === undefined ? {} : { token })).data,
  };
}
