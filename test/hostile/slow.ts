import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, AttackRun } from './attack.ts';
import { dial, inParallel, type RawConnection, statusesOf, times } from './sockets.ts';

/** Time in which a server closes a connection without progress. The longest deadline is 15 s, for bodies. */
const givenUpSeconds = 30;
/** The short form checks only that the shop continues to serve. */
const shortSeconds = 2;

type Kind = {
  name: string;
  count: { short: number; long: number };
  /** Called when the connection is open. Returns the function that stops its timer, or undefined without a timer. */
  begin(connection: RawConnection, index: number): undefined | (() => void);
};

const body = Buffer.alloc(900_000, 0x20);
const drip = (connection: RawConnection, text: string, everyMs: number): (() => void) => {
  let at = 0;
  const timer = setInterval(() => connection.send(text[at++ % text.length]!), everyMs);
  return () => clearInterval(timer);
};

/** `token` belongs to a shopper, because an attacker can have an account. */
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

/** Alternates between the port of the API and the port of the gateway. */
async function hold(attackRun: AttackRun, kind: Kind): Promise<void> {
  const { target } = attackRun;
  const connections: RawConnection[] = [];
  const endings: (() => void)[] = [];
  await inParallel(times(attackRun.of(kind.count)), 100, async (index) => {
    const port = index % 2 ? target.gateway.port : target.api.port;
    // A server may refuse these connections. It must accept those of other clients, which the ordinary load checks.
    const connection = await dial(port).catch(() => null);
    attackRun.sent(1);
    if (!connection) return;
    connections.push(connection);
    const ending = kind.begin(connection, index);
    if (ending) endings.push(ending);
  });
  if (connections.length === 0) attackRun.fault(`${kind.name}: no connection was accepted`);
  const seconds = attackRun.of({ short: shortSeconds, long: givenUpSeconds });
  const deadline = performance.now() + seconds * 1000;
  const open = () => connections.filter((connection) => !connection.closed()).length;
  while (open() > 0 && performance.now() < deadline) await sleep(100);
  const left = connections.filter((connection) => !connection.closed());
  const answered = left.filter((connection) => connection.bytes() > 0).length;
  for (const end of endings) end();
  for (const connection of connections) {
    // uWebSockets.js answers 505 to a request line that arrives in pieces.
    const wrong = statusesOf(connection.received()).filter((status) => status >= 500 && ![503, 505].includes(status));
    if (wrong.length > 0) attackRun.fault(`${kind.name}: answered ${wrong.join(', ')}`);
    if (/^HTTP\/1.1 503/.test(connection.received()) && !/\r\nretry-after: \d/i.test(connection.received()))
      attackRun.fault(`${kind.name}: 503 without Retry-After`);
    connection.destroy();
  }
  if (attackRun.size === 'long' && left.length > 0)
    attackRun.fault(
      `${kind.name}: ${left.length} of ${connections.length} connections still open after ${seconds} s, ${answered} of these answered`,
    );
}

/** Connections that never complete their request do not use up memory or time of the shop. */
export const slow: Attack = {
  name: 'slow-writers',
  about: 'incomplete bodies, one byte a second, endless heads and idle connections, all at once',
  transports: 'each',
  waits: true,
  async run(attackRun) {
    const [shopper] = await attackRun.servers.shoppers(1);
    await Promise.all(kindsOf(shopper!.token).map((kind) => hold(attackRun, kind)));
  },
};
