import { execFile } from 'node:child_process';
import { chmod, mkdir, open } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Who the server runs as: empty unless we are root, as PostgreSQL refuses root. */
export type Account = { uid?: number; gid?: number };

export type Log = (line: string) => void;

export const run = promisify(execFile);

/** Where things go that the server's account can not reach below a directory like /root. */
export const defaultShared = '/var/lib/tradepost';
export const windows = process.platform === 'win32';
export const isRoot = process.getuid?.() === 0;

export const codeOf = (error: unknown) => (error as NodeJS.ErrnoException | undefined)?.code;
export const messageOf = (error: unknown) =>
  String((error as { stderr?: string }).stderr || (error as Error).message || error).trim();

/** The server gets no secrets of ours, no PG* variables, and English messages, which the start tells apart. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  if (windows) return { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return { LC_ALL: 'C', TZ: 'UTC', ...(PATH && { PATH }), ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) };
}

/** Whatever the umask: for folders of which other users see the names only. */
export async function makeEnterable(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(path, { recursive: true });
    await chmod(path, 0o755);
  }
}

/** A power cut must not undo a rename; Windows can not sync directories and does not need it. */
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
