import { access, constants, stat, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

/** The user of this process. A container may run under an id without a name. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

async function nearestExisting(path: string): Promise<{ path: string; isFolder: boolean }> {
  const there = await stat(path).catch(() => null);
  if (there || dirname(path) === path) return { path, isFolder: there?.isDirectory() ?? false };
  return nearestExisting(dirname(path));
}

/**
 * `nearest`: the folder itself, or what exists nearest above it. `isFolder`: whether that is a folder. `fault`: why no file can be made
 * in the folder.
 */
export type FolderState = { nearest: string; isFolder: boolean; fault: string | null };

/** Whether this process can make files in a folder. One that is missing is made, with the folders above it, by the first file. */
export async function checkFolder(folder: string): Promise<FolderState> {
  const { path: nearest, isFolder } = await nearestExisting(folder);
  if (!isFolder) return { nearest, isFolder, fault: `the folder ${folder} cannot be made: ${nearest} is not a folder` };
  const isWritable = await access(nearest, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (isWritable) return { nearest, isFolder, fault: null };
  const fault =
    nearest === folder
      ? `the user ${accountName()} cannot write to the folder ${folder}`
      : `the folder ${folder} does not exist, and the user ${accountName()} cannot make it in ${nearest}`;
  return { nearest, isFolder, fault };
}

/** The space of the file system of a folder, in bytes. Null where it reports none, as some of containers and networks do. */
export async function spaceOf(folder: string): Promise<{ free: number; total: number } | null> {
  const disk = await statfs(folder).catch(() => null);
  return disk && disk.blocks > 0 ? { free: disk.bavail * disk.bsize, total: disk.blocks * disk.bsize } : null;
}
