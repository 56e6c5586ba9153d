import { subscribe } from 'node:diagnostics_channel';
import type { UnnamedRefusal } from '@tradepost/http';

/** Apart from the hooks, which run in every test file: files share their process, and so this subscription. */
const found = new Set<string>();
// By its name: most test files need nothing else of the package. named-refusals.test.ts fails when the name is another one.
subscribe('tradepost:http:unnamed_refusal', (message) => {
  const { route, refusal } = message as UnnamedRefusal;
  found.add(`${route.method} ${route.path} does not name ${refusal.refusalName} (${refusal.code} ${refusal.message})`);
});

/** Returns the faults that were found since the last call. */
export function takeUnnamedRefusals(): string[] {
  const lines = [...found];
  found.clear();
  return lines;
}
