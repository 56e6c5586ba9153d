import { openDatabase } from '@tradepost/postgres';
import { cloneDatabase } from '@tradepost/testing/servers/database';
import { expect, test } from 'vitest';
import { lockActiveShoppers } from './active-shoppers.ts';
import { deleteShopper } from './identity-store.ts';

test('a locked account cannot be deleted until the lock ends; other changes of it do not wait', async () => {
  const database = await cloneDatabase();
  const sql = openDatabase(database.url, { max: 2 });
  try {
    const [row] = await sql<{ id: number }[]>`
      insert into identity.shoppers (nickname, phone) values ('Ann', '13800000000') returning id`;
    const id = row!.id;
    const remove = () =>
      sql.begin(async (tx) => {
        await tx`set local lock_timeout = '50ms'`;
        return deleteShopper(tx, id, '13800000000', new Date());
      });
    await sql.begin(async (tx) => {
      expect(await lockActiveShoppers(tx, [id, id + 1])).toEqual(new Set([id]));
      await expect(remove()).rejects.toThrow('lock timeout');
      await sql`update identity.shoppers set nickname = 'Anne', points = 5 where id = ${id}`;
    });
    expect(await remove()).toBe(true);
    expect(await sql.begin((tx) => lockActiveShoppers(tx, [id]))).toEqual(new Set());
  } finally {
    await sql.end();
    await database.drop();
  }
});
