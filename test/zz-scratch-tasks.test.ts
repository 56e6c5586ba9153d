import { expect, test } from 'vitest';
import { openTaskBench } from './harness/warehouse-tasks.ts';
test('speed', async () => {
  const bench = await openTaskBench();
  await bench.runtime.settings.set('external_wms.callback_enabled', false);
  const { sql } = bench;
  await sql`insert into inventory.inventory_integration_tasks (provider,biz_type,biz_no,action,request_id,sequence_key,payload,status,max_attempts,backoff_seconds,completed_at)
    select 'external_wms','order','X'||n,'reserve','order:X'||n||':reserve','order:X'||n,'{}','success',3,30,now() from generate_series(1,200000) n`;
  await sql`analyze inventory.inventory_integration_tasks`;
  const nos = Array.from({ length: 6000 }, (_, n) => `P${n}`);
  await bench.orders(nos, ['reserve', 'confirm']);
  await sql`load 'auto_explain'`.catch(() => 0);
  const t = performance.now();
  const c = await Promise.all([bench.worker(), bench.worker()].map((w) => w.deliver()));
  const s = (performance.now() - t) / 1000;
  console.log(c, 12000 / s, 'tasks/s');
  const seq = await sql`select relname, seq_scan, seq_tup_read, idx_scan, n_tup_hot_upd, n_tup_upd from pg_stat_user_tables where relname in ('inventory_integration_tasks','orders','order_inventory_state')`;
  console.log(seq);
  await bench.close();
}, 120000);
