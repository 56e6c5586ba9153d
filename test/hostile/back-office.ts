import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, AttackRun } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker } from './attacker.ts';
import { dial, inParallel, type RawConnection, statusesOf, times } from './sockets.ts';

/** Sends requests all at once. Each must be answered with its data or with 503. */
async function flood(attackRun: AttackRun, attacker: Attacker, paths: readonly string[], count: number): Promise<void> {
  const { servers, target } = attackRun;
  let answered = 0;
  await inParallel(times(count), count, async (index) => {
    const path = paths[index % paths.length]!;
    const reply = await attacker.ask(target.api.url, path, { token: servers.staff });
    attackRun.sent(1);
    const fault = faultOfReply(reply);
    if (fault) attackRun.fault(`GET ${path}: ${fault}`);
    if (reply.code === 0) answered += 1;
  });
  if (answered === 0)
    attackRun.fault(`none of ${count} requests to ${paths[0]} was answered, so the attack tested nothing`);
}

/** Many expensive reads of the back office leave connections and time to shoppers. */
export const reports: Attack = {
  name: 'reports',
  about: 'dashboards, reports, searches of the change log and lists of low stock, all at once',
  transports: 'any',
  async run(attackRun) {
    const { sql } = attackRun.servers;
    await sql`
      with made as (
        insert into catalog.products (title, price, status)
        select 'Fork ' || n, 100, 1 from generate_series(1, ${attackRun.of({ short: 1_000, long: 60_000 })}::int) as n returning id)
      insert into catalog.product_skus (product_id, sku_key, price, stock) select id, '__default__', 100, 3 from made`;
    const attacker = openAttacker({ sockets: 200 });
    const paths = [
      ...['dashboard', 'analytics/products?days=90', 'analytics/customers?days=90', 'analytics/conversion?days=90'],
      ...['change-log?keyword=%25_zz', 'products?low_stock=true&size=100'],
    ].map((path) => `/admin/api/${path}`);
    await flood(attackRun, attacker, paths, attackRun.of({ short: 100, long: 200 }));
    attacker.close();
  },
};

/** Bytes of the components of a page, below the limit of 256 KiB. */
const pageBytes = 240_000;
const variants = { short: 3, long: 30 } as const;

/** Pages of the largest size neither block the event loop nor fill the memory. */
export const decoration: Attack = {
  name: 'decoration',
  about: 'variants of the largest size: saved, listed many times at once, and read by shoppers',
  transports: 'any',
  async run(attackRun) {
    const { servers, target } = attackRun;
    const attacker = openAttacker({ sockets: 60 });
    const page = `/admin/api/decor/large-${target.name}`;
    const list = times(pageBytes / 60).map((n) => ({ text: '/uploads/'.padEnd(40, 'x'), n }));
    await inParallel(times(attackRun.of(variants)), 4, async (index) => {
      const json = { components: [{ type: 'text', props: { list } }] };
      const reply = await attacker.ask(target.api.url, `${page}?variant=v${index}`, {
        method: 'PUT',
        token: servers.staff,
        json,
      });
      attackRun.sent(1);
      if (reply.code !== 0)
        attackRun.fault(`a page of ${pageBytes} bytes: ${reply.status} ${reply.text.slice(0, 200)}`);
    });
    const count = attackRun.of({ short: 12, long: 60 });
    await flood(attackRun, attacker, [`${page}/variants`], count);
    await flood(attackRun, attacker, [`/api/v1/decor/large-${target.name}?variant=v1`], count);
    const shown = await attacker.ask(target.api.url, `/api/v1/decor/large-${target.name}?variant=v1`);
    if (shown.bytes < pageBytes / 2) attackRun.fault(`the page has ${shown.bytes} bytes, so the attack tested nothing`);
    attacker.close();
  },
};

const exportPath = '/admin/api/change-log/export';
/** Changes with long values, so that an export is larger than what the kernel buffers. */
const changes = { short: 5_000, long: 40_000 } as const;

/** An export that its client does not read has one slot, which is free when the client leaves. */
export const exports: Attack = {
  name: 'exports',
  about: 'exports of the change log that the client never reads',
  transports: 'any',
  async run(attackRun) {
    const { servers, target } = attackRun;
    await servers.sql`
      insert into change_log.changes (source, actor_name, address, request_id, action, table_name, row_id, operation, after)
      select 'api', 'hostile', '', '', 'PUT /', 'catalog.products', n::text, 'insert', jsonb_build_object('title', repeat('x', 2000))
      from generate_series(1, ${attackRun.of(changes)}::int) as n`;
    const request = `GET ${exportPath} HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer ${servers.staff}\r\n\r\n`;
    const idle: RawConnection[] = [];
    await inParallel(times(40), 20, async () => {
      const connection = await dial(target.api.port, { reads: false });
      connection.send(request);
      idle.push(connection);
      attackRun.sent(1);
    });
    await sleep(500);
    const refused = await dial(target.api.port);
    refused.send(request);
    await refused.until((text) => text.includes('\r\n\r\n'), 5_000);
    const [status] = statusesOf(refused.received());
    if (status !== 429 && status !== 503)
      attackRun.fault(`a further export is answered with ${status}, not 429 or 503`);
    refused.destroy();
    for (const connection of idle) connection.destroy();
    const attacker = openAttacker();
    for (const end = performance.now() + 10_000; ; await sleep(100)) {
      const reply = await attacker.ask(target.api.url, exportPath, {
        token: servers.staff,
        headers: { range: 'bytes=0-0' },
      });
      attackRun.sent(1);
      if (reply.status === 200) break;
      if (performance.now() < end) continue;
      attackRun.fault(
        `10 s after the clients have left an export is answered with ${reply.status} ${reply.text.slice(0, 200)}`,
      );
      break;
    }
    attacker.close();
    await servers.sql`delete from change_log.changes where actor_name = 'hostile'`;
  },
};
