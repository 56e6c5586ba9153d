import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['packages/testing/servers/cluster.ts'],
    setupFiles: ['packages/testing/routes/named-refusals.ts'],
    // Each test file runs in its own process, with its own server and database.
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
