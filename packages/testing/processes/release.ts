import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** The files of a release in a temporary folder. They run with the dependencies of this checkout. */
export type UnpackedRelease = {
  /** Its command `tradepost`, for `startScript`. */
  readonly script: string;
  remove(): Promise<void>;
};

/** Why the files of a commit cannot be taken from this checkout. Null: they can. */
export async function whyNoCommit(commit: string): Promise<string | null> {
  try {
    await run('git', ['-C', root, 'cat-file', '-e', `${commit}^{tree}`]);
    return null;
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    return code === 'ENOENT' ? 'git is not installed' : stderr.trim().split('\n')[0] || `there is no commit ${commit}`;
  }
}

/** Links the entries of a folder, except `but`. */
async function linkEntries(from: string, to: string, but: (name: string) => boolean = () => false): Promise<void> {
  await mkdir(to);
  for (const name of await readdir(from)) if (!but(name)) await symlink(join(from, name), join(to, name));
}

/** Node resolves imports from the real path of a file, so the packages of the release import each other and not those of this checkout. */
async function linkDependencies(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  await linkEntries(join(root, 'node_modules'), modules, (name) => name === '@tradepost');
  await mkdir(join(modules, '@tradepost'));
  for (const name of await readdir(join(folder, 'packages'))) {
    const own = join(folder, 'packages', name);
    const text = await readFile(join(own, 'package.json'), 'utf8').catch(() => null);
    if (text === null) continue;
    await symlink(own, join(modules, (JSON.parse(text) as { name: string }).name));
    const nested = join(root, 'packages', name, 'node_modules');
    if (existsSync(nested)) await linkEntries(nested, join(own, 'node_modules'));
  }
}

/** Takes the files of a commit from the history of this checkout. */
export async function unpackRelease(commit: string): Promise<UnpackedRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-release-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, 'release.tar');
    await run('git', ['-C', root, 'archive', '--format=tar', `--output=${archive}`, commit]);
    await run('tar', ['-x', '-f', archive, '-C', folder]);
    await rm(archive);
    await linkDependencies(folder);
    return { script: join(folder, 'bin/tradepost.ts'), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
