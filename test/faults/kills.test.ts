import { dataFolderScenarios } from './scenarios.ts';
import { testScenarios } from './test-scenarios.ts';

testScenarios(dataFolderScenarios);
