import type { Scenario } from '../harness/scenario-cli.ts';
import { type Attack, type Outcome, scenarioOf } from './attack.ts';
import { framing } from './framing.ts';

const all: readonly Attack[] = [framing];

export const attacks: readonly Scenario<Outcome>[] = all.map(scenarioOf);
