import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, AttackRun } from './attack.ts';
import { type Variant, variants } from './framing-variants.ts';
import { dial, inParallel, statusesOf } from './sockets.ts';

/** Whether all bytes are sent at once, or the hidden request in its own segment. */
type Way = 'in one segment' | 'in a later segment';
const ways: readonly Way[] = ['in one segment', 'in a later segment'];

/** The target of hidden requests, and how the test finds which of them ran. */
type HiddenTarget = {
  port: number;
  path: string;
  hidden(marker: string): Buffer;
  ran(markers: readonly string[]): Promise<string[]>;
};

const post = (path: string, token: string, body: string) =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

/** Time for a refused connection to end, and for hidden requests to run. */
const closeMs = 3_000;

async function sendVariant(target: HiddenTarget, variant: Variant, way: Way, marker: string): Promise<string | null> {
  const connection = await dial(target.port);
  const hidden = target.hidden(marker);
  const bytes = variant.bytes({ path: target.path, body: 'hello' }, hidden);
  try {
    if (way === 'in one segment') connection.send(bytes);
    else {
      const at = bytes.indexOf(hidden);
      connection.send(bytes.subarray(0, at));
      await connection.until((text) => statusesOf(text).length > 0, 150);
      connection.send(bytes.subarray(at));
    }
    if (variant.kind === 'body') {
      await connection.until((text) => statusesOf(text).length > 0, closeMs);
      // The answer to a hidden request would follow.
      await sleep(100);
    } else await connection.untilClosed(closeMs);
    const [status, ...more] = statusesOf(connection.received());
    // The rest of a refused message may be refused again.
    if (more.some((one) => one !== 400))
      return `${more.length + 1} answers (${status}, ${more.join(', ')}) to one request`;
    if (variant.kind === 'refused' && status !== undefined && !connection.closed())
      return `answered ${status}, and the connection stays open`;
    return null;
  } finally {
    connection.destroy();
  }
}

async function attackTarget(attackRun: AttackRun, where: string, target: HiddenTarget): Promise<void> {
  // The hidden request must run when it is sent openly. Otherwise the attack tests nothing.
  const open = randomUUID();
  const connection = await dial(target.port);
  connection.send(target.hidden(open));
  await connection.until((text) => statusesOf(text).length > 0, 10_000);
  connection.destroy();
  if ((await target.ran([open])).length !== 1)
    return attackRun.fault(`${where}: the request to hide does not run openly`);

  const sent = variants.filter(({ beyondUws }) => attackRun.target.name === 'node' || beyondUws === undefined);
  const cases = sent.flatMap((variant) => ways.map((way) => ({ variant, way, marker: randomUUID() })));
  const faults: string[] = [];
  await inParallel(cases, 250, async ({ variant, way, marker }) => {
    const fault = await sendVariant(target, variant, way, marker).catch((error: Error) => error.message);
    attackRun.sent(1);
    if (fault) faults.push(`${where}: ${variant.name}, ${way}: ${fault}`);
  });
  await sleep(300);
  const ran = new Set(await target.ran(cases.map(({ marker }) => marker)));
  for (const { variant, way, marker } of cases)
    if (ran.has(marker)) faults.unshift(`${where}: ${variant.name}, ${way}: THE HIDDEN REQUEST RAN`);
  for (const fault of faults) attackRun.fault(fault);
}

/** A request hidden in or after a message of ambiguous length must never run, as an order or as a model call. */
export const framing: Attack = {
  name: 'framing',
  about: 'requests hidden after ambiguous framing and in bodies must not run, and a refused connection ends',
  transports: 'each',
  async run(attackRun) {
    const { servers, target } = attackRun;
    const [buyer] = await servers.shoppers(1);
    const order = (remark: string) =>
      JSON.stringify({ address_id: buyer!.address_id, items: [{ sku_id: servers.skuIds[0] }], remark });
    const key = await servers.gatewayKey();
    const chat = (content: string) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
    const { received } = servers.upstream;
    received.length = 0;
    await Promise.all([
      attackTarget(attackRun, 'API', {
        port: target.api.port,
        path: '/api/v1/cart/add',
        hidden: (marker) => post('/api/v1/orders', buyer!.token, order(marker)),
        async ran(markers) {
          const rows = await servers.sql<{ remark: string }[]>`
            select distinct remark from orders.orders where remark = any(${markers as string[]})`;
          return rows.map(({ remark }) => remark);
        },
      }),
      attackTarget(attackRun, 'gateway', {
        port: target.gateway.port,
        path: '/v1/chat/completions',
        hidden: (marker) => post('/v1/chat/completions', key, chat(marker)),
        ran: async (markers) => markers.filter((marker) => received.some(({ raw }) => raw.includes(marker))),
      }),
    ]);
  },
};
