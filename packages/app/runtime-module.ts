import { eventReaders, type Module } from '@tradepost/module';
import {
  dispatchEvents,
  runRetention,
  runtimeAudits,
  runtimeInChangeLog,
  runtimePublishes,
  runtimeRetention,
  runtimeTables,
  settingsColumn,
} from '@tradepost/runtime';
import { publishedSecretsCheck } from './doctor/check-development.ts';
import { eventsCheck } from './doctor/check-events.ts';
import { jobsCheck } from './doctor/check-jobs.ts';
import { processesCheck } from './doctor/check-processes.ts';
import { secretsCheck } from './doctor/check-secrets.ts';
import { storedSettingsCheck } from './doctor/check-stored-settings.ts';

const retentionTask = 'runtime.retention';

/** Audits and doctor checks of the runtime package, its retention job, and the dispatch of the events of all modules. */
export const runtimeModule: Module = {
  name: 'runtime',
  required: true,
  tables: runtimeTables,
  changeLog: runtimeInChangeLog,
  publishes: runtimePublishes,
  sealed: [settingsColumn],
  audits: runtimeAudits,
  retention: runtimeRetention,
  doctorChecks: [storedSettingsCheck, secretsCheck, publishedSecretsCheck, jobsCheck, eventsCheck, processesCheck],
  open: ({ runtime, modules, entries }) => ({
    tasks: {
      async [retentionTask](_payload, { stopping }) {
        const rules = modules.flatMap((module) => module.retention ?? []);
        await runRetention(runtime, rules, stopping);
      },
    },
    crons: [{ task: retentionTask, match: '41 * * * *' }],
    loops: [
      {
        name: 'runtime.events',
        everyMs: 500,
        run: (stopping, rest) => dispatchEvents({ runtime, readers: entries(eventReaders) }, stopping, rest),
      },
    ],
  }),
};
