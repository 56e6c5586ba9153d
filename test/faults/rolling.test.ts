import { rollingRestarts } from './rolling-restart.ts';
import { testScenarios } from './test-scenarios.ts';

testScenarios(rollingRestarts);
