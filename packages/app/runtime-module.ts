import type { Module } from '@tradepost/module';
import { runRetention, runtimeAudits, runtimePublishes, runtimeRetention, runtimeTables } from '@tradepost/runtime';
import { publishedSecretsCheck } from './doctor/check-development.ts';
import { jobsCheck } from './doctor/check-jobs.ts';
import { storedSettingsCheck } from './doctor/check-stored-settings.ts';

const retentionTask = 'runtime.retention';

/** Audits and doctor checks of the runtime package, and the job that applies the retention rules of all modules. */
export const runtimeModule: Module = {
  name: 'runtime',
  required: true,
  tables: runtimeTables,
  publishes: runtimePublishes,
  audits: runtimeAudits,
  retention: runtimeRetention,
  doctorChecks: [storedSettingsCheck, publishedSecretsCheck, jobsCheck],
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
