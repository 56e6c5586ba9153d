import '../cheap-hashes.ts';
import { afterAll, afterEach } from 'vitest';
import { takeUnnamedRefusals } from './unnamed-refusals.ts';

/**
 * Runs in every test file. Fails a test when a handler throws a refusal that its route does not name in `refuses`: the API
 * document would not show it. Refusals of servers in other processes are not checked.
 */
function failWhenFound(): void {
  const lines = takeUnnamedRefusals();
  if (lines.length > 0) throw new Error(`a route must name its refusals in \`refuses\`:\n${lines.join('\n')}`);
}
afterEach(failWhenFound);
// Also checks calls in the hooks of the file.
afterAll(failWhenFound);
