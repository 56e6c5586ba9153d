import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

type Snapshot = { tags: object[]; paths: object; components: { schemas: object } };

const packagesFolder = join(import.meta.dirname, '..');

/** The API document, put together from the snapshots of all packages. */
export async function readSnapshots(): Promise<object> {
  const files = globSync('*/openapi.json', { cwd: packagesFolder }).sort();
  const read = async (file: string) => JSON.parse(await readFile(join(packagesFolder, file), 'utf8')) as Snapshot;
  const snapshots = await Promise.all(files.map(read));
  return Object.assign({}, ...snapshots, {
    tags: snapshots.flatMap(({ tags }) => tags),
    paths: Object.assign({}, ...snapshots.map(({ paths }) => paths)),
    components: Object.assign({}, ...snapshots.map(({ components }) => components), {
      schemas: Object.assign({}, ...snapshots.map(({ components }) => components.schemas)),
    }),
  });
}
