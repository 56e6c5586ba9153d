import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

type Release = {
  version: string;
  commit: string;
  /** The number of its last migration. */
  migration: number;
};

const heading = /^## (\d+\.\d+\.\d+) \(commit ([0-9a-f]{7,40}), migration (\d{4})\)$/gm;

/** The releases that the changelog names, the newest first. */
export const readReleases = (changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')): Release[] =>
  [...changelog.matchAll(heading)].map(([, version, commit, migration]) => ({
    version: version!,
    commit: commit!,
    migration: Number(migration),
  }));
