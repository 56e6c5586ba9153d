import { modules } from '@tradepost/app';
import { readMigrationStep, readMigrations } from '@tradepost/postgres';
import { describe, expect, test } from 'vitest';
import { readReleases } from './releases.ts';

const releases = readReleases();
const [before] = releases;
const migrations = await readMigrations();
/** Schemas and tables of this release. Processes of the release before do not use them. */
const created = new Set<string>();
const unreleased = migrations.filter(({ id }) => id > before!.migration);

test('the changelog names the release before, with its commit and its last migration', () => {
  expect(releases.length).toBeGreaterThan(0);
  expect(unreleased.length).toBeLessThan(migrations.length);
});

describe.each(unreleased.map(({ name, text }) => [name, text] as const))('%s', (name, text) => {
  const { stoppedIn, faults } = readMigrationStep(text, created);
  test('lets processes of the release before run on, or is marked as a contract step', () => {
    expect(faults, 'docs/CONTRIBUTING.md, "Add a migration", says how to split or mark it').toEqual([]);
    if (stoppedIn !== null)
      expect(
        releases.map(({ version }) => version),
        'processes of the release before must not use what the file removes, so the release that stopped using it is out',
      ).toContain(stoppedIn);
  });
  test('is named by the package that owns it', () => {
    const words = `${name.slice(5, -4)}_`;
    const owners = modules.filter((module) => words.startsWith(`${module.name.replaceAll('-', '_')}_`));
    expect(owners.length).toBeGreaterThan(0);
  });
});
