import { crowds } from './crowds.ts';
import { kills } from './kills.ts';
import { outages } from './outages.ts';
import type { Scenario } from './scenario.ts';
import { warehouseScenarios } from './warehouse.ts';

export const scenarios: readonly Scenario[] = [...kills, ...crowds, ...outages, ...warehouseScenarios];
