import { createHash, createSecretKey, randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { chmod, chown, link, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Sql } from '@tradepost/postgres';
import type { SecretKey } from './sealed-text.ts';
import { withKeyLock } from './secret-key-store.ts';

/** The key file cannot be used. The message says how to correct it, and has no part of a key. */
export class KeyFileError extends Error {
  override name = 'KeyFileError';
}

const keyBytes = 32;
const header =
  '# Keys of the stored secrets. The first key encrypts, every key decrypts. Keep a copy apart from the backups.\n';

const newKeyLine = (): string => `${randomBytes(keyBytes).toString('base64')}\n`;

function keyOf(line: string, file: string, number: number): SecretKey {
  const bytes = Buffer.from(line, 'base64');
  if (bytes.length !== keyBytes || bytes.toString('base64') !== line)
    throw new KeyFileError(`${file}: line ${number} is not a key: 32 bytes in base64 (openssl rand -base64 32)`);
  const id = createHash('sha256').update('tradepost key id').update(bytes).digest('hex').slice(0, 8);
  return { id, key: createSecretKey(bytes) };
}

function keysIn(text: string, file: string): SecretKey[] {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const keys = lines
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
    .map(({ line, number }) => keyOf(line, file, number));
  if (keys.length === 0) throw new KeyFileError(`${file} has no key: put its kept copy back`);
  return keys;
}

/** The keys of the file, the encrypting one first; null when there is no file. */
export function readKeyFile(file: string): SecretKey[] | null {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new KeyFileError(`${file} cannot be read: ${message}`);
  }
  try {
    const { mode } = fstatSync(descriptor);
    // A group may read the file, because orchestrators mount secrets for the group of the process. Windows has no modes.
    if (process.platform !== 'win32' && (mode & 0o027) !== 0)
      throw new KeyFileError(`${file} is open to other users: chmod 600 ${file}`);
    return keysIn(readFileSync(descriptor, 'utf8'), file);
  } catch (error) {
    if (error instanceof KeyFileError) throw error;
    throw new KeyFileError(`${file} cannot be read: ${(error as Error).message}`);
  } finally {
    closeSync(descriptor);
  }
}

/** The id of the key that encrypts; `none` without a file, `failed` when the file cannot be used. */
export function keyInUse(file: string): string {
  try {
    return readKeyFile(file)?.[0]?.id ?? 'none';
  } catch {
    return 'failed';
  }
}

/** Writes a file that only this user reads, and moves it to its place by `place`. */
async function placeFile(file: string, text: string, place: (temporary: string) => Promise<void>) {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await place(temporary);
    // The name must survive a power loss before the first secret is stored. Windows does not open folders.
    if (process.platform !== 'win32') {
      const folder = await open(dirname(file), 'r');
      await folder.sync().finally(() => folder.close());
    }
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Creates the file with one key. A file that another process has created in the meantime is kept. */
export async function createKeyFile(file: string): Promise<{ created: boolean }> {
  let created = true;
  try {
    // A hard link fails when the name exists, and the file is complete as soon as it has its name.
    await placeFile(file, `${header}${newKeyLine()}`, async (temporary) => {
      const { uid, gid } = await stat(dirname(file));
      // The services own the folder and must read a file that a command of root creates. Only root can give a file away.
      if (process.getuid?.() === 0) await chown(temporary, uid, gid).catch(() => {});
      await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
        created = false;
      });
    });
  } catch (error) {
    throw new KeyFileError(`${file} cannot be created: ${(error as Error).message}`);
  }
  return { created };
}

/** Puts a new key before the others, so that it encrypts. The others stay and decrypt. */
export async function addKey(sql: Sql, file: string): Promise<void> {
  await withKeyLock(sql, async () => {
    if (!readKeyFile(file)) throw new KeyFileError(`${file} does not exist: the first secret creates it`);
    const path = await realpath(file);
    const { mode, uid, gid } = await stat(path);
    const lines = (await readFile(path, 'utf8')).split('\n');
    const first = lines.findIndex((line) => line.trim() !== '' && !line.trim().startsWith('#'));
    const text = [...lines.slice(0, first), newKeyLine().trim(), ...lines.slice(first)].join('\n');
    try {
      await placeFile(path, text, async (temporary) => {
        await chmod(temporary, mode & 0o777);
        // Only root can give a file away. For others it is their own already.
        await chown(temporary, uid, gid).catch(() => {});
        await rename(temporary, path);
      });
    } catch (error) {
      throw new KeyFileError(
        `${file} cannot be replaced: ${(error as Error).message}. Write a line of openssl rand -base64 32 before its keys`,
      );
    }
  });
}
