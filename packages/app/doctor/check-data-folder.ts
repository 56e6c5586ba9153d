import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Finding, findingsOf } from '@tradepost/module';
import { accountName, checkFolder, spaceOf } from '@tradepost/runtime';
import prettyBytes from 'pretty-bytes';

const leastFree = 2 ** 30;
const sizeText = (bytes: number) => prettyBytes(bytes, { binary: true });

/** The size of all files in a folder. Files that disappear or cannot be read count as empty. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory()
      ? sizeOf(path)
      : lstat(path).then(
          ({ size }) => size,
          () => 0,
        );
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Checks space and permissions. `elsewhere` is the folder of the embedded cluster when it is outside the data folder. */
export async function checkDataFolder(
  folder: string,
  passwordFile: string | null,
  elsewhere: string | null,
): Promise<Finding[]> {
  const { findings, ok, note, warning, error } = findingsOf('data folder');
  const { nearest: there, isFolder, fault } = await checkFolder(folder);
  const space = await spaceOf(elsewhere ?? there);
  const left = space === null ? 'free space not known' : `${sizeText(space.free)} free`;
  if (there === folder && isFolder) {
    const size = (await sizeOf(folder)) + (elsewhere ? await sizeOf(elsewhere) : 0);
    ok(`${folder}: ${sizeText(size)}, ${left}`);
  } else if (fault === null)
    note('data-folder/missing', `${folder} does not exist yet; ${left}`, 'nothing to do: the first start creates it');
  if (space === null)
    note(
      'data-folder/unknown-space',
      `the file system of ${elsewhere ?? there} does not report its free space`,
      `see that ${sizeText(leastFree)} is free, with the tools of the file system`,
    );
  else if (space.free < leastFree)
    (space.free < leastFree / 8 ? error : warning)(
      'data-folder/little-space',
      `only ${sizeText(space.free)} of ${sizeText(space.total)} are free: a full disk stops the database`,
      'free some space, or move the folder (--data)',
    );
  if (fault !== null)
    error(
      'data-folder/not-writable',
      fault,
      isFolder
        ? `${there === folder ? 'chown' : 'install -d -m 0750 -o'} ${accountName()} ${folder}, or --data with another folder`
        : `move ${there} away, or --data with another folder`,
    );
  if (process.platform === 'win32') return findings;
  const { mode } = await stat(there);
  if (there === folder && mode & 0o002)
    warning(
      'data-folder/writable-by-all',
      `every account of this machine can write to ${folder}`,
      `chmod o-w ${folder}`,
    );
  const password = passwordFile ? await stat(passwordFile).catch(() => null) : null;
  if (password && password.mode & 0o077)
    warning(
      'data-folder/password-readable',
      `other accounts of this machine can read the password of the database`,
      `chmod 600 ${passwordFile}`,
    );
  return findings;
}
