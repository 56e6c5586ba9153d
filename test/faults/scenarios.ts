import { bursts } from './bursts.ts';
import { kills } from './kills.ts';
import { outages } from './outages.ts';
import { rollingRestarts } from './rolling-restart.ts';
import type { Scenario } from './scenario.ts';
import { uploadsKilled } from './upload-kills.ts';
import { warehouseScenarios } from './warehouse.ts';
import { webhooksKilled } from './webhook-kills.ts';

// Each list has a test file, so that the suite runs them at the same time.
/** Share one data folder, so they run in one process. */
export const dataFolderScenarios: readonly Scenario[] = [...kills, uploadsKilled, webhooksKilled];
export const burstsAndOutages: readonly Scenario[] = [...bursts, ...outages];
export const scenarios: readonly Scenario[] = [
  ...dataFolderScenarios,
  ...burstsAndOutages,
  ...warehouseScenarios,
  ...rollingRestarts,
];
