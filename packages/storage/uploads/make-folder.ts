import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const codeOf = (error: unknown) => (error as { code?: string }).code;

/** Makes one folder. A folder that is there already is no error, also where the file system has another reason to refuse. */
async function makeOne(path: string): Promise<void> {
  await mkdir(path).catch(async (error: unknown) => {
    const isFolder = await stat(path).then(
      (info) => info.isDirectory(),
      () => false,
    );
    if (!isFolder) throw error;
  });
}

/**
 * Makes a folder and the folders above it that are missing. Rejects with the error of the file system.
 *
 * `mkdir` of Node.js with `recursive` never ends where a folder exists and nothing can be made in it, such as `/proc`: it
 * makes the parent and tries again, as long as the process runs.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeOne(path);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await makeOne(path);
  }
}
