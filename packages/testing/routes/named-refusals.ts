import { type UnnamedRefusal, unnamedRefusals } from '@tradepost/http';
import { afterAll, afterEach } from 'vitest';

/**
 * Runs in every test file. Fails a test when a handler that it called threw a refusal that its route does not name in
 * `refuses`: the API document would not show it. Servers in other processes are not seen.
 */
const found = new Set<string>();
unnamedRefusals.subscribe((message) => {
  const { route, refusal } = message as UnnamedRefusal;
  found.add(`${route.method} ${route.path} does not name ${refusal.refusalName} (${refusal.code} ${refusal.message})`);
});

/** What was found since the last call. */
export function takeUnnamedRefusals(): string[] {
  const lines = [...found];
  found.clear();
  return lines;
}

function failWhenFound(): void {
  const lines = takeUnnamedRefusals();
  if (lines.length > 0) throw new Error(`a route must name what it refuses with (\`refuses\`):\n${lines.join('\n')}`);
}
afterEach(failWhenFound);
// For calls in hooks of the file.
afterAll(failWhenFound);
