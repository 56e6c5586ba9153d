import type { InstantEntry } from '../provider.ts';
import { instantPay } from './settings.ts';

/** Settles an order at once and moves no money: for demo shops and tests. */
export const instantEntry: InstantEntry = { name: 'instant', kind: 'instant', settings: [instantPay] };
