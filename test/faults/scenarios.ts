import { bursts } from './bursts.ts';
import { kills } from './kills.ts';
import { outages } from './outages.ts';
import type { Scenario } from './scenario.ts';
import { uploadsKilled } from './upload-kills.ts';
import { warehouseScenarios } from './warehouse.ts';
import { webhooksKilled } from './webhook-kills.ts';

export const scenarios: readonly Scenario[] = [
  ...kills,
  uploadsKilled,
  ...bursts,
  ...outages,
  ...warehouseScenarios,
  webhooksKilled,
];
