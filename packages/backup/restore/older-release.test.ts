import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateDatabase } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { cloneDatabase, createEmptyDatabase } from '@tradepost/testing/servers/database';
import { expect, test, vi } from 'vitest';
import { createBackup } from '../create/create-backup.ts';
import { filePlace } from '../places/file-place.ts';
import { withBackup } from './read-parts.ts';
import { restoreBackup } from './restore-backup.ts';

vi.setConfig({ testTimeout: 120_000 });

/** The last migration of release 0.1.0. */
const released = 44;

test('a backup of an older release is restored at its migration and brought to this one', async () => {
  const [older, target, current] = [await createEmptyDatabase(), await createEmptyDatabase(), await cloneDatabase()];
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-older-'));
  try {
    await migrateDatabase(older.url, { through: released });
    await older.sql`insert into identity.shoppers (username, nickname) values ('ann', 'Ann')`;
    const [product] = await older.sql`
      insert into catalog.products (title, price, status) values ('Mug', 1290, 1) returning id`;
    await older.sql`
      insert into catalog.product_skus (product_id, sku_key, price, stock) values (${product!.id}, 'a', 1290, 3)`;
    await older.sql`select graphile_worker.add_job('orders.expire', '{}'::json, run_at => now() + interval '1 day')`;
    const file = join(folder, 'shop.tar');
    const open = (id: string) => filePlace(file).create(id);
    await createBackup({ url: older.url, open, uploads: 'none', files: null as never });
    await withBackup(filePlace(file).open(), async (opened) => {
      expect(opened.manifest.migrations).toHaveLength(released);
      await restoreBackup(opened, { url: target.url });
    });
    const applied = (sql: typeof target.sql) => sql`select id, name, checksum from runtime.migrations order by id`;
    expect(await applied(target.sql)).toEqual(await applied(current.sql));
    const [row] = await target.sql`
      select p.title, s.stock, (select nickname from identity.shoppers) as shopper,
             (select count(*)::int from graphile_worker.jobs) as jobs
      from catalog.products p join catalog.product_skus s on s.product_id = p.id`;
    expect({ ...row }).toEqual({ title: 'Mug', stock: 3, shopper: 'Ann', jobs: 1 });
    expect(await auditViolations(target.sql)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
    for (const database of [older, target, current]) await database.drop();
  }
});
