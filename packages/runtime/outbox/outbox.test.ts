import { openDatabase, type Sql } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openLog } from '../observability/log.ts';
import { dispatchEvents } from './dispatch-events.ts';
import { defineEvent, type EventReader, type OutboxEvent } from './event-kind.ts';
import { recordEvents, retryEvents, selectEvents } from './outbox-store.ts';

const noted = defineEvent({
  name: 'note.written',
  about: 'a note was written',
  data: z.object({ note: z.number(), text: z.string() }),
  subject: ({ note }) => `note:${note}`,
});
const closed = defineEvent({
  name: 'note.closed',
  about: 'a note was closed',
  data: z.object({ note: z.number() }),
  subject: ({ note }) => `note:${note}`,
});

let database: TestDatabase;
let sql: Sql;
/** The time of the dispatcher. */
let clock: Date;
beforeEach(async () => {
  database = await cloneDatabase();
  sql = openDatabase(database.url, { max: 6 });
  clock = new Date();
  await sql`create table public.seen (reader text, event bigint, text text)`;
});
afterEach(async () => {
  await sql.end();
  await database.drop();
});

const write = (...notes: { note: number; text: string }[]) =>
  sql.begin((tx) => recordEvents(tx, noted, notes, new Date()));

/** A reader that stores what it reads, and fails for texts that `fails` accepts. */
const reader = (name: string, fails: (text: string) => boolean = () => false, kinds: string[] | null = null) =>
  ({
    name,
    kinds,
    async read(tx, events) {
      for (const { id, data } of events)
        await tx`insert into public.seen values (${name}, ${id}, ${String(data.text ?? '')})`;
      const poison = events.find(({ data }) => fails(String(data.text)));
      if (poison) throw new Error(`cannot read ${poison.data.text}`);
    },
  }) satisfies EventReader;

const dispatch = (...readers: EventReader[]) =>
  dispatchEvents({ runtime: { sql, now: () => clock, log: openLog({ level: 'silent' }) }, readers });
const seenBy = async (name: string) =>
  (await sql<{ text: string }[]>`select text from public.seen where reader = ${name} order by ctid`).map((r) => r.text);
const states = async () =>
  (await selectEvents(sql, {}, 100)).map(({ data, state }: OutboxEvent & { state: string }) => [data.text, state]);

test('an event exists exactly when its transaction commits, and every reader reads it once, in order', async () => {
  await expect(
    sql.begin(async (tx) => {
      await recordEvents(tx, noted, [{ note: 1, text: 'lost' }], new Date());
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  await write({ note: 1, text: 'a' }, { note: 2, text: 'b' }, { note: 1, text: 'c' });
  await sql.begin((tx) => recordEvents(tx, closed, [{ note: 1 }], new Date()));
  const [all, some] = [reader('all'), reader('some', undefined, ['note.written'])];
  expect(await dispatch(all, some)).toBe(4);
  expect(await dispatch(all, some)).toBe(0);
  expect(await seenBy('all')).toEqual(['a', 'b', 'c', '']);
  expect(await seenBy('some')).toEqual(['a', 'b', 'c']);
});

test('two processes that dispatch at once read each event once', async () => {
  await write(...Array.from({ length: 1_200 }, (_, n) => ({ note: n % 7, text: `${n}` })));
  const counts = await Promise.all([dispatch(reader('r')), dispatch(reader('r')), dispatch(reader('r'))]);
  expect(counts.reduce((sum, n) => sum + n)).toBe(1_200);
  const seen = await seenBy('r');
  expect(seen).toEqual(Array.from({ length: 1_200 }, (_, n) => `${n}`));
});

describe('an event that a reader cannot read', () => {
  const badReader = reader('r', (text) => text === 'bad');

  test('delays only the later events of its subject, and nothing of its attempt is kept', async () => {
    await write({ note: 1, text: 'bad' }, { note: 1, text: 'after' }, { note: 2, text: 'other' });
    expect(await dispatch(badReader)).toBe(1);
    expect(await seenBy('r')).toEqual(['other']);
    expect(await states()).toEqual([
      ['other', 'dispatched'],
      ['after', 'waiting'],
      ['bad', 'waiting'],
    ]);
    // Not before its next attempt is due.
    expect(await dispatch(reader('r'))).toBe(0);
    clock = new Date(clock.getTime() + 3_000);
    expect(await dispatch(reader('r'))).toBe(2);
    expect(await seenBy('r')).toEqual(['other', 'bad', 'after']);
  });

  test('fails after its last attempt; then the others go on, and an operator retries it', async () => {
    await write({ note: 1, text: 'bad' }, { note: 1, text: 'after' });
    for (let attempt = 1; attempt <= 20; attempt += 1) {
      await dispatch(badReader);
      clock = new Date(clock.getTime() + 3_601_000);
    }
    expect(await states()).toEqual([
      ['after', 'dispatched'],
      ['bad', 'failed'],
    ]);
    const [failed] = await selectEvents(sql, { states: ['failed'] }, 10);
    expect(failed).toMatchObject({ attempts: 20, last_error: 'cannot read bad' });
    expect(await retryEvents(sql, [failed!.id + 1])).toEqual([]);
    expect(await retryEvents(sql, null)).toEqual([failed!.id]);
    expect(await dispatch(reader('r'))).toBe(1);
    expect(await seenBy('r')).toEqual(['after', 'bad']);
  });
});
