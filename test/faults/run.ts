import { runSuite } from '@tradepost/testing/processes/scenario-cli';
import { raceScenarios } from './race-scenarios.ts';
import { emptyOutcome, type Outcome } from './scenario.ts';
import { scenarios } from './scenarios.ts';

await runSuite<Outcome>({
  usage: `Usage: npm run faults -- [--only NAME] [--short] [--json]

Causes faults on purpose. After every scenario all audits must be clean.`,
  notes: `Everything runs on this machine on loopback, on databases in temporary folders, which are removed at the end, also on Ctrl-C.`,
  scenarios: [...scenarios, ...raceScenarios],
  emptyOutcome,
  columns: [
    ['rounds', (row) => row.rounds],
    ['requests', (row) => row.requests],
    ['confirmed', (row) => row.confirmed],
    ['refused', (row) => row.refused],
    ['audit ms', (row) => row.auditMs],
  ],
  timeLimitMinutes: 20,
});
