import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Starts the tests of the whole shop (`test/`) before those of the packages. Without results of an earlier run vitest starts the
 * largest files first, and some of the longest tests are short files: started last, they run alone while a worker is idle.
 */
class WholeShopFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const wholeShop = (file: TestSpecification) => (file.moduleId.startsWith(`${import.meta.dirname}/test/`) ? 0 : 1);
    return (await super.sort(files)).sort((a, b) => wholeShop(a) - wholeShop(b));
  }
}

export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['packages/testing/servers/cluster.ts'],
    setupFiles: ['packages/testing/routes/named-refusals.ts'],
    // Each test file runs in its own process, with its own server and database.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    // A busy machine reaches a state later. A state that is never reached still fails its test.
    expect: { poll: { timeout: 10_000 } },
    sequence: { sequencer: WholeShopFirst },
  },
});
