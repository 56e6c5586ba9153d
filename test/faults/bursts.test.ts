import { burstsAndOutages } from './scenarios.ts';
import { testScenarios } from './test-scenarios.ts';

testScenarios(burstsAndOutages);
