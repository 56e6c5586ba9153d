import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const entries = ['bin', 'daemons'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);
/** Makes this Node.js look like an older one. */
const looksLike = (version: string) =>
  `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`;

test.each(entries)('%s says to a Node.js that is too old which one it needs', (entry) => {
  // Node.js 20 reads the file as CommonJS: it must not have types or imports.
  expect(() => new Script(readFileSync(join(root, entry), 'utf8'))).not.toThrow();
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', looksLike('20.20.2'), entry], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: `error: Tradepost needs Node.js 22.18 or newer, and this is 20.20.2: run node_modules/.bin/node ${entry}\n`,
  });
});

test('every newer Node.js that runs TypeScript is accepted', () => {
  for (const version of ['22.18.0', '23.6.0', '24.0.0', '26.10.0']) {
    const { status } = spawnSync(process.execPath, ['--import', looksLike(version), 'bin/tradepost.ts', '--version'], {
      cwd: root,
    });
    expect(status, version).toBe(0);
  }
});
