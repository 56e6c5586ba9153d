import { inventoryProvider } from '@tradepost/inventory';
import type { DoctorCheck, Findings } from '@tradepost/module';
import { openLog, openMetrics } from '@tradepost/runtime';
import { pingWarehouse } from './ping-warehouse.ts';
import { externalMode, missingSettings, providerName, settingCommand } from './settings.ts';
import { selectNewestSkus, selectTaskCounts, type TaskCounts } from './tasks/task-report-store.ts';

const pingMs = 2_000;

function checkTasks({ open, overdue, oldest_due, failed }: TaskCounts, { ok, warning, error }: Findings): void {
  const minutes = oldest_due ? Math.floor((Date.now() - oldest_due.getTime()) / 60_000) : 0;
  if (overdue > 0)
    error(
      'warehouse/overdue-tasks',
      `${overdue} of ${open} open tasks are overdue, the oldest for ${minutes} min: no process delivers them`,
      'tradepost start, or tradepost wms deliver; tradepost wms tasks list --open shows them',
    );
  else ok(`${open} tasks open, none overdue`);
  if (failed > 0)
    warning(
      'warehouse/failed-tasks',
      `${failed} tasks have failed: the warehouse has not carried them out, and their orders show failed`,
      'tradepost wms tasks list --failed, then tradepost wms tasks retry',
    );
}

/** Checks the external warehouse when it holds the stock, or when tasks for it are open. */
const warehouse: DoctorCheck = {
  area: { name: 'warehouse', sort: 50 },
  async check({ sql, settings }, findings) {
    const provider = settings.get(inventoryProvider);
    const counts = await selectTaskCounts(sql);
    const isCurrent = provider === providerName;
    if (!isCurrent && counts.open === 0) return;
    const { ok, note, warning, error } = findings;
    if (!isCurrent)
      note(
        'warehouse/tasks-of-earlier-provider',
        `inventory.provider is ${provider}, and ${counts.open} tasks for the external warehouse are still open`,
        'nothing, unless they stay open: tradepost wms tasks list --open',
      );
    const missing = missingSettings(settings);
    if (missing.length > 0)
      error(
        'warehouse/not-set-up',
        `not set: ${missing.join(', ')}${isCurrent ? '; the shop does not start without these settings' : ''}`,
        missing.map(settingCommand).join('; '),
      );
    else {
      const skuIds = await selectNewestSkus(sql, 1);
      const deps = { settings, log: openLog({ level: 'silent' }), metrics: openMetrics() };
      const question = { skuIds: skuIds.length > 0 ? skuIds : [1], timeoutMs: pingMs };
      const { ok: answers, endpoint, ms, message, code, advice } = await pingWarehouse(deps, question);
      const answer = code === null ? message : `code ${code}, ${message}`;
      if (answers) ok(`external_wms (${settings.get(externalMode)}) at ${endpoint} answers in ${ms} ms`);
      else
        (isCurrent ? error : warning)(
          'warehouse/no-answer',
          `external_wms at ${endpoint}: ${answer}`,
          `${advice}; tradepost wms ping checks it again`,
        );
    }
    checkTasks(counts, findings);
  },
};

export const externalDoctorChecks: readonly DoctorCheck[] = [warehouse];
