import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PlatformPackage, platformPackage, readPackage } from './binaries.ts';
import { messageOf, run, windows } from './system.ts';

const npm = (args: readonly string[]) =>
  // On Windows npm is a script, which only a shell runs.
  run('npm', windows ? args.map((arg) => `"${arg}"`) : [...args], {
    ...{ timeout: 10 * 60_000, maxBuffer: 16_000_000 },
    ...(windows ? { shell: true } : {}),
  });

/** The newest version of the platform package with this major version of PostgreSQL. */
async function newestOf(major: number): Promise<string> {
  const { stdout } = await npm(['view', platformPackage, 'versions', '--json']);
  const versions = (JSON.parse(stdout) as string[]).filter((version) => Number.parseInt(version, 10) === major);
  const newest = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  if (!newest) throw new Error(`${platformPackage} has no version with PostgreSQL ${major}`);
  return newest;
}

/** Commands for a machine that has another way to the package, such as another registry or a copied folder. */
const manual = (major: number, folder: string) =>
  `npm view ${platformPackage} versions; npm install --prefix ${folder} --no-save --ignore-scripts ${platformPackage}@<a version that begins with ${major}.>`;

/**
 * The binaries of another major version of PostgreSQL: those in `folder`, otherwise npm installs them there. Rejects with the
 * commands to run when npm cannot.
 */
export async function binariesOfMajor(
  major: number,
  folder: string,
  onProgress: (line: string) => void,
): Promise<PlatformPackage> {
  const inFolder = () => readPackage(join(folder, 'package.json'));
  const installed = await inFolder().catch(() => null);
  if (installed?.major === major) return installed;
  try {
    const version = await newestOf(major);
    onProgress(`installing PostgreSQL ${version} into ${folder}`);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
    const quiet = ['--no-save', '--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];
    await npm(['install', '--prefix', folder, ...quiet, `${platformPackage}@${version}`]);
    return await inFolder();
  } catch (error) {
    throw new Error(
      `The binaries of PostgreSQL ${major} are needed once, and npm cannot install them: ${messageOf(error).split('\n').slice(0, 3).join(' ')}. Install them yourself, then start again: ${manual(major, folder)}`,
      { cause: error },
    );
  }
}
