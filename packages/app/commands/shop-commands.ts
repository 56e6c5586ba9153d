import type { ModuleCommand } from '@tradepost/module';
import { auditCommand } from './audit.ts';
import { benchCommand } from './bench.ts';
import { configCommand } from './config.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { eventsCommand } from './events.ts';
import { jobsCommand } from './jobs.ts';
import { migrateCommand } from './migrate.ts';
import { retentionCommand } from './retention.ts';
import { secretsCommand } from './secrets.ts';
import { seedCommand } from './seed.ts';
import { settingsCommand } from './settings/settings.ts';
import { startCommand } from './start.ts';

/** The commands that every shop has, whatever modules it runs. */
export const shopCommands: readonly ModuleCommand[] = [
  startCommand,
  demoCommand,
  migrateCommand,
  seedCommand,
  configCommand,
  settingsCommand,
  secretsCommand,
  auditCommand,
  jobsCommand,
  eventsCommand,
  retentionCommand,
  doctorCommand,
  benchCommand,
];
