import { bursts } from './bursts.ts';
import { kills } from './kills.ts';
import { outages } from './outages.ts';
import type { Scenario } from './scenario.ts';
import { warehouseScenarios } from './warehouse.ts';

export const scenarios: readonly Scenario[] = [...kills, ...bursts, ...outages, ...warehouseScenarios];
