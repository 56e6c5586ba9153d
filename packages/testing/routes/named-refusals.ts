import '../cheap-hashes.ts';
import { subscribe } from 'node:diagnostics_channel';
import type { UnnamedRefusal } from '@tradepost/http';
import { afterAll, afterEach } from 'vitest';

/**
 * Runs in every test file. Fails a test when a handler throws a refusal that its route does not name in `refuses`: the API
 * document would not show it. Refusals of servers in other processes are not checked.
 */
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

function failWhenFound(): void {
  const lines = takeUnnamedRefusals();
  if (lines.length > 0) throw new Error(`a route must name its refusals in \`refuses\`:\n${lines.join('\n')}`);
}
afterEach(failWhenFound);
// Also checks calls in the hooks of the file.
afterAll(failWhenFound);
