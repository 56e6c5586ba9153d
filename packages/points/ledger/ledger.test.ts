import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { selectBalances } from './ledger-store.ts';
import { type PointsEntry, pointsType } from './points-log.ts';
import { writePoints } from './write-points.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database?.drop());

const now = new Date('2026-03-01T12:00:00Z');
const entry = (user_id: number, points: number, key: string): PointsEntry => ({
  ...{ user_id, points, key, related_id: 0, remark: '' },
  type: points > 0 ? pointsType.checkIn : pointsType.exchange,
});
const write = (...entries: PointsEntry[]) => database.sql.begin((tx) => writePoints(tx, entries, now));
const code = (outcome: true | Error) => (outcome === true ? 0 : (outcome as { code?: number }).code);
const sumOf = async (userId: number) => {
  const [row] = await database.sql<{ sum: number }[]>`
    select coalesce(sum(points), 0)::bigint as sum from points.logs where user_id = ${userId}`;
  return row!.sum;
};

test('entries of many shoppers are written in order, and a refused one does not stop the others', async () => {
  const outcomes = await write(
    ...[entry(2, 30, 'a'), entry(1, 10, 'b'), entry(2, -20, 'c'), entry(2, -11, 'd')],
    ...[entry(3, -1, 'e'), entry(2, -10, 'f'), entry(2, 5, 'g')],
  );
  expect(outcomes.map(code)).toEqual([0, 0, 0, 500, 500, 0, 0]);
  expect(await selectBalances(database.sql, [1, 2, 3, 4])).toEqual(
    new Map([
      [1, 10],
      [2, 5],
      [3, 0],
      [4, 0],
    ]),
  );
});

test('a repeated key changes nothing and answers true, in one call and in a later one', async () => {
  expect(await write(entry(10, 7, 'once'), entry(10, 7, 'once'))).toEqual([true, true]);
  expect(await write(entry(10, 7, 'once'))).toEqual([true]);
  // A refused entry has left no row, so its key is free.
  expect((await write(entry(10, -8, 'later'), entry(10, -7, 'later'))).map(code)).toEqual([500, 0]);
  expect(await selectBalances(database.sql, [10])).toEqual(new Map([[10, 0]]));
});

test('concurrent spendings of one balance never make it negative, and concurrent repeats count once', async () => {
  await write(entry(20, 100, 'start'));
  const spent = await Promise.all(Array.from({ length: 60 }, (_, n) => write(entry(20, -3, `spend:${n}`))));
  expect(spent.flat().filter((outcome) => outcome === true)).toHaveLength(33);
  await Promise.all(Array.from({ length: 20 }, () => write(entry(20, 50, 'bonus'), entry(21, 1, 'other'))));
  expect(await selectBalances(database.sql, [20, 21])).toEqual(
    new Map([
      [20, 51],
      [21, 1],
    ]),
  );
  expect([await sumOf(20), await sumOf(21)]).toEqual([51, 1]);
});
