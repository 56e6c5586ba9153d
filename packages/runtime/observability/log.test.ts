import { AppError } from '@tradepost/core';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog } from './log.ts';

function open(level = 'trace') {
  const lines: string[] = [];
  const log = openLog({ level, stream: { write: (line: string) => lines.push(line) } });
  return { log, lines, text: () => lines.join(''), last: () => JSON.parse(lines.at(-1)!) };
}

describe('an error of the database', () => {
  let database: TestDatabase;
  let sql: Sql;

  beforeAll(async () => {
    database = await cloneDatabase();
    // Opened as in the server, with a statement hook. With a hook the driver adds statement and parameters to its
    // errors.
    sql = openDatabase(database.url, { max: 1, onStatement: () => {} });
    await sql`create table members (email text constraint one_account_each unique, phone text not null, age int)`;
    await sql`insert into members values ('ann@example.com', '13800000000', 30)`;
  });
  afterAll(async () => {
    await sql.end();
    await database.drop();
  });

  const failures: [string, string, () => Promise<unknown>][] = [
    ['a duplicate', '23505', () => sql`insert into members values (${'ann@example.com'}, ${'13800000000'}, 1)`],
    ['a missing value', '23502', () => sql`insert into members values (${'ann@example.com'}, ${null}, 1)`],
    [
      'a value of the wrong type',
      '22P02',
      () => sql`insert into members (age) values (${'ann@example.com'}::text::int)`,
    ],
  ];

  test.each(failures)(
    '%s is logged by its code, without the statement or a shopper’s data',
    async (_name, code, fail) => {
      const { log, text, last } = open();
      const error = await fail().then(
        () => null,
        (reason: Error) => reason,
      );
      expect(error).toMatchObject({ code });
      log.error({ err: error }, 'a request failed');
      log.error({ error }, 'a job failed');
      log.error({ err: new Error('could not save', { cause: error }) }, 'wrapped');
      expect(last().err.cause).toMatchObject({ type: 'PostgresError', code });
      expect(text()).not.toMatch(/insert into|ann@example|13800000000|"(query|parameters|args|detail)"/);
      for (const line of text().trim().split('\n')) expect(line).toContain(code);
    },
  );

  test('facts that help to find the fault are kept', async () => {
    const { log, last } = open();
    const error = await failures[0]![2]().then(
      () => null,
      (reason: Error) => reason,
    );
    log.error({ err: error }, 'a request failed');
    expect(last()).toMatchObject({
      msg: 'a request failed',
      err: { code: '23505', constraint: 'one_account_each', message: expect.stringContaining('duplicate key') },
    });
    expect(last().err.stack).toContain('PostgresError: duplicate key');
  });
});

describe('secrets', () => {
  test.each(['password', 'token', 'authorization', 'secret'])('%s is masked, also inside a request', (name) => {
    const { log, text } = open();
    log.info({ [name]: 'hunter2' }, 'plain');
    log.info({ body: { [name]: 'hunter2', username: 'ann' } }, 'nested');
    log.info({ req: { headers: { [name]: 'Bearer hunter2' } } }, 'deep');
    log.child({ [name]: 'hunter2' }).info('child');
    expect(text()).not.toContain('hunter2');
    expect(text()).toContain('ann');
    expect(text().match(/\[Redacted\]/g)).toHaveLength(4);
  });
});

describe('a thrown value that is not a database error', () => {
  test.each([
    ['text', 'just text', { type: 'string', message: 'just text' }],
    ['nothing', undefined, undefined],
    ['a refusal', new AppError('gone', { code: 404, en: 'Not here', 'zh-CN': '不存在' }), { code: 404 }],
  ])('%s is logged, not an error of the log', (_name, thrown, expected) => {
    const { log, last } = open();
    log.error({ err: thrown }, 'odd');
    expect(last().msg).toBe('odd');
    if (expected) expect(last().err).toMatchObject(expected);
  });

  test('errors that are the cause of each other do not block the log', () => {
    const { log, last } = open();
    const a = new Error('a');
    const b = new Error('b', { cause: a });
    a.cause = b;
    log.error({ err: a }, 'circle');
    expect(last().err.cause.cause.cause.message).toBe('b');
  });
});

test('only lines of the level are written', () => {
  const { log, lines } = open('warn');
  log.info('no');
  log.warn('yes');
  expect(lines).toHaveLength(1);
  // A word: an operator does not know that 40 is a warning.
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'warn', msg: 'yes' });
});
