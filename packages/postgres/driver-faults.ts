import { EventEmitter } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import type Postgres from 'postgres';

/**
 * Shows each fault that the patch of postgres.js removes, on the driver at `workerData` (a file URL). It runs in a
 * worker thread because two of the faults are exceptions outside of any promise. There is no server and no network:
 * `Link` is the socket of the driver and answers as PostgreSQL would.
 */
type Driver = typeof Postgres;
type Answer = (text: string, link: Link) => 'answer' | 'silence';

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
/** `I`: no transaction is open. `T`: one is open. */
const ready = (status: 'I' | 'T'): Buffer => message('Z', Buffer.from(status));
const failure = (code: string): Buffer =>
  message('E', Buffer.concat([text('SERROR'), text(`C${code}`), text('Mfailed'), Buffer.from([0])]));
const success = (simple: boolean, tag: string, status: 'I' | 'T'): Buffer => {
  const complete = Buffer.concat([message('C', text(tag)), ready(status)]);
  if (simple) return complete;
  const described = [message('1', Buffer.alloc(0)), message('t', Buffer.alloc(2)), message('n', Buffer.alloc(0))];
  return Buffer.concat([...described, message('2', Buffer.alloc(0)), complete]);
};

/** One connection: the side of the driver is an event emitter with `write`, the side of the server is `answer`. */
class Link extends EventEmitter {
  readyState = 'open';
  readonly statements: string[] = [];
  writes = 0;
  private started = false;
  private status: 'I' | 'T' = 'I';
  private readonly answer: Answer;

  constructor(answer: Answer) {
    super();
    this.answer = answer;
  }

  write(bytes: Buffer): boolean {
    this.writes += 1;
    const replies: Buffer[] = [];
    let rest = Buffer.from(bytes);
    if (!this.started) {
      this.started = true;
      rest = rest.subarray(rest.readUInt32BE(0));
      replies.push(message('R', Buffer.alloc(4)), ready(this.status));
    }
    while (rest.length > 4) {
      const type = String.fromCharCode(rest[0] ?? 0);
      const body = rest.subarray(5, rest.readUInt32BE(1) + 1);
      rest = rest.subarray(rest.readUInt32BE(1) + 1);
      if (type !== 'Q' && type !== 'P') continue;
      const statement = body
        .toString('utf8', type === 'Q' ? 0 : body.indexOf(0) + 1)
        .replace(/\0.*/s, '')
        .trim();
      this.statements.push(statement);
      if (statement === 'begin') this.status = 'T';
      if (statement === 'commit' || statement === 'rollback') this.status = 'I';
      if (this.answer(statement, this) === 'answer')
        replies.push(success(type === 'Q', statement.toUpperCase(), this.status));
    }
    if (replies.length > 0) setImmediate(() => this.receive(Buffer.concat(replies)));
    return true;
  }

  receive(bytes: Buffer): void {
    this.emit('data', bytes);
  }

  /** The connection is lost, without an error of the socket. */
  lose(): void {
    this.readyState = 'closed';
    this.emit('close', false);
  }

  end(): void {
    setImmediate(() => this.lose());
  }

  destroy(): void {
    this.lose();
  }
}

const answerAll: Answer = () => 'answer';

function open(driver: Driver, options: { answer?: Answer; types?: boolean; debug?: boolean } = {}) {
  const links: Link[] = [];
  // `socket` is an option of the driver that its types lack.
  const untyped = {
    socket: () => {
      const link = new Link(options.answer ?? answerAll);
      links.push(link);
      return link;
    },
  };
  const sql = driver('postgres://user@127.0.0.1:1/database', {
    ...untyped,
    max: 1,
    prepare: false,
    connect_timeout: 0.3,
    backoff: () => 0,
    fetch_types: options.types ?? false,
    ...(options.debug ? { debug: () => {} } : {}),
  });
  return { sql, links, link: () => links.at(-1) ?? new Link(answerAll) };
}

const outcome = (promise: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(promise).then(
    () => 'answered',
    (error: { code?: string }) => `rejected ${error.code}`,
  );
const iteration = () => new Promise<void>((resolve) => setImmediate(resolve));
const isTypesQuery = (statement: string) => statement.includes('pg_catalog.pg_type');

const faults: Record<string, (driver: Driver) => Promise<string>> = {
  async 'statement after the connection is lost'(driver) {
    const { sql, link } = open(driver);
    let statement: Promise<string> | undefined;
    const transaction = sql.begin(async (tx) => {
      await tx`select 1`;
      link().lose();
      statement = outcome(tx`select 2`);
      await statement;
    });
    await outcome(transaction);
    await iteration();
    const noAnswer = iteration().then(() => 'no answer');
    return Promise.race([statement ?? 'not sent', noAnswer]);
  },
  async 'connection lost before a write'(driver) {
    const { sql, link } = open(driver);
    await sql`select 1`;
    const unsent = outcome(sql`select 2`.execute());
    await Promise.resolve().then(() => {});
    link().lose();
    await unsent;
    return outcome(sql`select 3`);
  },
  async 'connection lost while it is opened'(driver) {
    let lost = 0;
    const { sql } = open(driver, {
      types: true,
      answer: (statement, link) => {
        if (!isTypesQuery(statement) || lost > 0) return 'answer';
        lost += 1;
        setImmediate(() => {
          link.receive(failure('57P01'));
          link.lose();
        });
        return 'silence';
      },
    });
    return outcome(sql`select 1`);
  },
  async 'query of the types fails'(driver) {
    const { sql } = open(driver, {
      types: true,
      answer: (statement, link) => {
        if (!isTypesQuery(statement)) return 'answer';
        setImmediate(() => link.receive(Buffer.concat([failure('57014'), ready('I')])));
        return 'silence';
      },
    });
    return outcome(sql`select 1`);
  },
  async 'COMMIT of the transaction itself'(driver) {
    const { sql, link } = open(driver);
    await outcome(
      sql.begin(async (tx) => {
        Object.assign(tx, { ended: true });
        await tx`commit`;
      }),
    );
    return `sent: ${link().statements.filter((statement) => statement === 'commit').length}`;
  },
  async 'three statements of 2 kB in one iteration'(driver) {
    const { sql, link } = open(driver);
    await sql`select 1`;
    const before = link().writes;
    const long = 'x'.repeat(2_048);
    await Promise.all([1, 2, 3].map((n) => sql.unsafe(`select ${n}, '${long}'`)));
    return `writes: ${link().writes - before}`;
  },
  async 'statement with the option debug'(driver) {
    const { sql } = open(driver, { debug: true });
    const originOf = (query: object): unknown =>
      Object.getOwnPropertySymbols(query)
        .map((key) => Reflect.get(query, key))
        .find((value) => value instanceof Error);
    const [first, second] = [1, 2].map(() => sql`select 1`);
    return first && second && originOf(first) === originOf(second) ? 'one Error' : 'an Error for each';
  },
  async 'transaction that goes on after its connection is lost'(driver) {
    const { sql, links, link } = open(driver);
    await outcome(
      sql.begin(async (tx) => {
        await tx`select 1`;
        link().lose();
        // Another caller opens the connection again.
        await sql`select 1`;
        await outcome(tx`select 2`);
      }),
    );
    await sql`select 3`;
    await sql`select 4`;
    return links.at(-1)?.statements.includes('select 2') ? 'runs on the next connection' : 'is rejected';
  },
};

let escaped: string[] = [];
process.on('uncaughtException', (error) => escaped.push(`exception: ${error.message}`));
process.on('unhandledRejection', (error) => escaped.push(`rejection: ${Reflect.get(Object(error), 'code')}`));

const { default: driver } = await import(String(workerData));
const outcomes: Record<string, string> = {};
for (const [name, show] of Object.entries(faults)) {
  escaped = [];
  const shown = await show(driver);
  await iteration();
  outcomes[name] = [shown, ...escaped].join(', ');
}
parentPort?.postMessage(outcomes);
process.exit();
