import type { InstantEntry } from '../provider.ts';
import { instantPay } from './settings.ts';

/** Pays an order within the request without money, for demo shops and tests. */
export const instantEntry: InstantEntry = { name: 'instant', kind: 'instant', settings: [instantPay] };
