import type { Module } from '@tradepost/module';
import { changeLogAudits } from './change-log-audits.ts';
import { changeLogChecks } from './doctor-checks.ts';
import { changeLogMenu } from './menu.ts';
import { changeLogRoutes } from './routes.ts';
import { changeLogRetention, changeLogSettings } from './settings.ts';
import { changeLogPublishes, changeLogTables } from './tables.ts';

export const changeLogModule: Module = {
  name: 'change-log',
  needs: ['identity'],
  tables: changeLogTables,
  changeLog: {
    'change_log.changes': { unwatched: 'The change log itself.' },
    'change_log.watched_tables': { unwatched: 'Written by migrations.' },
  },
  publishes: changeLogPublishes,
  settings: changeLogSettings,
  menu: changeLogMenu,
  audits: changeLogAudits,
  retention: changeLogRetention,
  doctorChecks: changeLogChecks,
  open: ({ runtime, modules }) => ({ routes: () => changeLogRoutes(runtime, modules) }),
};
