import { execFile } from 'node:child_process';
import { chmod, mkdir, open } from 'node:fs/promises';
import { promisify } from 'node:util';

/** The account of the server. Only a process of root chooses one, because PostgreSQL refuses to run as root. Else empty. */
export type Account = { uid?: number; gid?: number };

export type Log = (line: string) => void;

export const run = promisify(execFile);

/** The default folder for clusters and binaries that the account of the server cannot reach. */
export const defaultShared = '/var/lib/tradepost';
export const windows = process.platform === 'win32';
export const isRoot = process.getuid?.() === 0;

export const codeOf = (error: unknown) => (error as NodeJS.ErrnoException | undefined)?.code;
export const messageOf = (error: unknown) =>
  String((error as { stderr?: string }).stderr || (error as Error).message || error).trim();

/**
 * The environment of the server: no secrets of this process, no PG* variables, English messages (the start recognizes
 * them).
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  if (windows) return { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return { LC_ALL: 'C', TZ: 'UTC', ...(PATH && { PATH }), ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) };
}

/** Creates folders that all users may enter, with any umask. Other users see only the names in them. */
export async function makeEnterable(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(path, { recursive: true });
    await chmod(path, 0o755);
  }
}

/**
 * Writes a folder to disk, so that a power failure does not undo a rename. Windows cannot do this and does not need it.
 */
export async function syncPath(path: string): Promise<void> {
  if (windows) return;
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}

export async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, 'w', 0o600);
  await handle.writeFile(text);
  await handle.sync().finally(() => handle.close());
}
