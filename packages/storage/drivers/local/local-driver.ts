import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkFolder } from '@tradepost/runtime';
import { makeFolder } from '../../uploads/make-folder.ts';
import { isStoredPath } from '../../uploads/stored-path.ts';
import type { DriverRuntime, StorageDriver, StorageDriverEntry } from '../driver.ts';
import { baseUrl, uploadDir, uploadFolder } from './settings.ts';

/** The path under which this server serves local files. */
export const servedUnder = '/uploads';

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The answers of file systems that can not flush a folder, such as some network shares. */
const notFlushed = ['EINVAL', 'EBADF', 'EISDIR', 'ENOTSUP'];

/** Flushes the names in a folder. Otherwise one may be lost with the power, while the row says that the file is there. */
export async function flushFolder(path: string): Promise<void> {
  await flush(path).catch((error: { code?: string }) => {
    if (!notFlushed.includes(error.code ?? '')) throw error;
  });
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

function openLocal(runtime: DriverRuntime): StorageDriver {
  const fileOf = (path: string) => {
    if (!isStoredPath(path)) throw new Error(`not a stored path: ${path}`);
    return join(uploadFolder(runtime), path);
  };
  return {
    ready() {},
    fileOf,
    /** The incoming file is in the same file system, so it is renamed: a file is visible when it is complete. */
    async put({ file, path }) {
      const target = fileOf(path);
      const folder = dirname(target);
      await makeFolder(folder);
      await flush(file);
      await rename(file, target);
      await flushFolder(folder);
    },
    async read(path) {
      try {
        return (await open(fileOf(path), 'r')).createReadStream();
      } catch (error) {
        if ((error as { code?: string }).code === 'ENOENT') return null;
        throw error;
      }
    },
    has: (path) => exists(fileOf(path)),
    async remove(paths) {
      // A process that does not see the folder would otherwise report files as removed that are still there.
      const folder = uploadFolder(runtime);
      if (!(await exists(folder))) throw new Error(`the upload folder ${folder} does not exist here`);
      for (const path of paths) await rm(fileOf(path), { force: true });
    },
    addressOf: (path) => `${runtime.settings.get(baseUrl).replace(/\/+$/, '') || servedUnder}/${path}`,
    async check() {
      const { fault } = await checkFolder(uploadFolder(runtime));
      if (fault !== null) throw new Error(fault);
    },
  };
}

export const localDriver: StorageDriverEntry = {
  name: 'local',
  aliases: ['storage_local'],
  settings: [uploadDir, baseUrl],
  open: openLocal,
};
