import type { Module } from '@tradepost/module';
import { runRetention, runtimeAudits, runtimePublishes, runtimeRetention, runtimeTables } from '@tradepost/runtime';

const retentionTask = 'runtime.retention';

/** The audits of the runtime package, and the job that applies the retention rules of all modules. */
export const runtimeModule: Module = {
  name: 'runtime',
  tables: runtimeTables,
  publishes: runtimePublishes,
  audits: runtimeAudits,
  retention: runtimeRetention,
  open: ({ runtime, modules }) => ({
    tasks: {
      async [retentionTask](_payload, { stopping }) {
        const rules = modules.flatMap((module) => module.retention ?? []);
        await runRetention(runtime, rules, stopping);
      },
    },
    crons: [{ task: retentionTask, match: '41 * * * *' }],
  }),
};
