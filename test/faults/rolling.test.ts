import { rollingScenarios } from './scenarios.ts';
import { testScenarios } from './test-scenarios.ts';

testScenarios(rollingScenarios);
