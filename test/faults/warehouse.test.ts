import { testScenarios } from './test-scenarios.ts';
import { warehouseScenarios } from './warehouse.ts';

testScenarios(warehouseScenarios);
