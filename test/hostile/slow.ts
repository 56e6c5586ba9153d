import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, Battle } from './attack.ts';
import { dial, inParallel, type RawConnection, statusesOf, times } from './sockets.ts';

/** Time in which a server gives up whoever does not get on; the body deadline of 15 s is the longest. */
const givenUpSeconds = 30;
/** The short form only sees that the shop goes on. */
const shortSeconds = 2;

type Kind = {
  name: string;
  count: { short: number; long: number };
  /** After it is connected; answers what goes on while it is open. */
  begin(connection: RawConnection, index: number): undefined | (() => void);
};

const body = Buffer.alloc(900_000, 0x20);
const drip = (connection: RawConnection, text: string, everyMs: number): (() => void) => {
  let at = 0;
  const timer = setInterval(() => connection.send(text[at++ % text.length]!), everyMs);
  return () => clearInterval(timer);
};

/** `token` is one of a shopper: whoever has an account can attack, too. */
const kindsOf = (token: string): readonly Kind[] => {
  const headOf = (path: string, line: string) =>
    `POST ${path} HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${line}\r\n\r\n`;
  const paths = ['/api/v1/orders', '/api/auth/login', '/admin/api/products', '/v1/chat/completions'];
  return [
    {
      name: 'a body of 1 MB that stops at 900 kB',
      count: { short: 120, long: 400 },
      begin(connection, index) {
        connection.send(headOf(paths[index % paths.length]!, 'Content-Length: 1000000'));
        connection.send(body);
        return undefined;
      },
    },
    {
      name: 'a chunk of 1 MB that stops at 900 kB',
      count: { short: 30, long: 100 },
      begin(connection, index) {
        connection.send(headOf(paths[index % paths.length]!, 'Transfer-Encoding: chunked'));
        connection.send('f4240\r\n');
        connection.send(body);
        return undefined;
      },
    },
    {
      name: 'a body of one byte a second',
      count: { short: 30, long: 150 },
      begin(connection) {
        connection.send(headOf('/api/v1/orders', 'Content-Length: 60000'));
        return drip(connection, ' ', 1_000);
      },
    },
    {
      name: 'a head of one byte a second',
      count: { short: 30, long: 150 },
      begin: (connection) =>
        drip(connection, 'GET /api/v1/products HTTP/1.1\r\nHost: shop.example\r\nX-A: b\r\n', 1_000),
    },
    {
      name: 'a head without end',
      count: { short: 10, long: 40 },
      begin(connection) {
        connection.send('GET /api/v1/products HTTP/1.1\r\nHost: shop.example\r\n');
        let line = 0;
        const timer = setInterval(() => connection.send(`X-${line++}: ${'a'.repeat(900)}\r\n`), 20);
        return () => clearInterval(timer);
      },
    },
    {
      name: 'an idle connection',
      count: { short: 500, long: 2_000 },
      begin: () => undefined,
    },
  ];
};

/** On the API's and on the gateway's port in turn. */
async function hold(battle: Battle, kind: Kind): Promise<void> {
  const { target } = battle;
  const connections: RawConnection[] = [];
  const endings: (() => void)[] = [];
  await inParallel(times(battle.of(kind.count)), 100, async (index) => {
    const port = index % 2 ? target.gateway.port : target.api.port;
    // A server may refuse connections; it may not stop accepting them from others, which the witness sees.
    const connection = await dial(port).catch(() => null);
    battle.sent(1);
    if (!connection) return;
    connections.push(connection);
    const ending = kind.begin(connection, index);
    if (ending) endings.push(ending);
  });
  if (connections.length === 0) battle.fault(`${kind.name}: no connection was accepted`);
  const seconds = battle.of({ short: shortSeconds, long: givenUpSeconds });
  const deadline = performance.now() + seconds * 1000;
  const open = () => connections.filter((connection) => !connection.closed()).length;
  while (open() > 0 && performance.now() < deadline) await sleep(100);
  const left = connections.filter((connection) => !connection.closed());
  const answered = left.filter((connection) => connection.bytes() > 0).length;
  for (const end of endings) end();
  for (const connection of connections) {
    // 505: uWebSockets.js answers so to a request line that arrives in pieces.
    const wrong = statusesOf(connection.received()).filter((status) => status >= 500 && ![503, 505].includes(status));
    if (wrong.length > 0) battle.fault(`${kind.name}: answered ${wrong.join(', ')}`);
    if (/^HTTP\/1.1 503/.test(connection.received()) && !/\r\nretry-after: \d/i.test(connection.received()))
      battle.fault(`${kind.name}: 503 without Retry-After`);
    connection.destroy();
  }
  if (battle.size === 'long' && left.length > 0)
    battle.fault(
      `${kind.name}: ${left.length} of ${connections.length} connections still open after ${seconds} s, ${answered} of these answered`,
    );
}

/** Connections that never get to the end of their request take neither the shop's memory nor its time. */
export const slow: Attack = {
  name: 'slow-writers',
  about: 'unfinished bodies, one byte a second, heads without end and idle connections, all at once',
  transports: 'each',
  waits: true,
  async run(battle) {
    const [shopper] = await battle.arena.shoppers(1);
    await Promise.all(kindsOf(shopper!.token).map((kind) => hold(battle, kind)));
  },
};
