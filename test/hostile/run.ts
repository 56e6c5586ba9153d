import { runSuite } from '@tradepost/testing/processes/scenario-cli';
import { afterwards } from './afterwards.ts';
import { emptyOutcome, type Outcome } from './attack.ts';
import { attacks } from './attacks.ts';

await runSuite<Outcome>({
  usage: `Usage: npm run hostile -- [--only NAME] [--short] [--json]

Attacks running servers over their ports, one for each transport, during ordinary purchases. At the end it checks
that both servers are ready, memory is released, the only 5xx is 503, and every audit is clean.

Example: npm run hostile -- --only framing --only headers`,
  notes: `Everything runs on this machine on loopback, on a database in a temporary folder, which is removed at the end, also on Ctrl-C.`,
  scenarios: attacks,
  closing: afterwards,
  emptyOutcome,
  columns: [
    ['sent', (row) => row.sent],
    ['purchases', (row) => row.purchases],
    ['p99 ms', (row) => row.p99Ms],
    ['stall ms', (row) => row.stallMs],
    ['peak MB', (row) => row.peakMb],
  ],
  timeLimitMinutes: 12,
});
