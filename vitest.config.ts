import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = import.meta.dirname;

/** The longest tests, in the order of their start. */
const longest = ['test/faults/', 'test/hostile/', 'test/properties/', 'test/'];
const rankOf = (path: string): number => {
  const rank = longest.findIndex((folder) => path.startsWith(join(root, folder)));
  return rank < 0 ? longest.length : rank;
};

/**
 * Starts the longest tests first. Without results of an earlier run vitest starts the largest files first, and some of the longest
 * tests are short files: started last, they run alone while a worker is idle.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId));
  }
}

/** Files that measure the memory, the buffers or the time of their process, or that load a module in their own way. */
const isolated = [
  'packages/catalog/csv/csv-lines.test.ts',
  'packages/gateway/limiter-load/view.test.ts',
  'packages/gateway/proxy/proxy.test.ts',
  'packages/http/transports/slow-clients.test.ts',
  'packages/storage/uploads/uploads.test.ts',
];
const project = {
  setupFiles: ['packages/testing/patient-waits.ts', 'packages/testing/routes/named-refusals.ts'],
  pool: 'forks' as const,
  // Node loads the modules itself. Behind the module runner of Vite each use of an import is a call, which took half of the time. So no
  // module can be mocked (`vi.mock`): `testing/cheap-hashes.ts` replaces functions before the code under test is loaded.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // A busy machine reaches a state later. A state that is never reached still fails its test.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
};

export default defineConfig({
  test: {
    globalSetup: ['packages/testing/servers/cluster.ts', 'packages/testing/processes/strip-types.ts'],
    // One more than the cores of the usual machine: tests wait for a timeout, another process or the database.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Each test file has its own server and database. Files share the processes and their modules: importing the shop in every file
    // took a quarter of the time. So a file puts back what it changes in its process: timers, environment, listeners.
    projects: [
      {
        test: {
          ...project,
          name: 'shared',
          isolate: false,
          include: ['packages/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...isolated],
        },
      },
      { test: { ...project, name: 'isolated', isolate: true, include: isolated } },
    ],
  },
});
