import type { FileHandle } from 'node:fs/promises';

/**
 * A backup in one file is a tar archive, which every system can list: `tar --list --file`. Only the parts of the format
 * that are needed here: regular files with short names.
 */
const block = 512;
const maxNameBytes = 100;

const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;

const sumOf = (header: Buffer): number =>
  header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0);

/** The header of an entry. */
export function tarHeader(name: string, size: number, modifiedAt: Date): Buffer {
  if (Buffer.byteLength(name) > maxNameBytes) throw new RangeError(`${name}: too long for an entry`);
  const header = Buffer.alloc(block);
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(Math.floor(modifiedAt.getTime() / 1000), 12), 136);
  header.write('0', 156);
  header.write('ustar\u000000', 257, 'latin1');
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** The zeros after the content of an entry. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((block - (size % block)) % block);
/** The end of an archive. */
export const tarEnd = Buffer.alloc(2 * block);

export type TarEntry = { readonly name: string; readonly at: number; readonly size: number };

/**
 * The entries of an archive, in order. Null when the file does not end as an archive does: it was cut off, or something was
 * added. Throws TarError where the header of an entry is expected and not found.
 */
export async function readTarEntries(handle: FileHandle): Promise<TarEntry[] | null> {
  const { size: length } = await handle.stat();
  const header = Buffer.alloc(block);
  const entries: TarEntry[] = [];
  for (let at = 0; at + block <= length; ) {
    await handle.read(header, 0, block, at);
    if (header.every((byte) => byte === 0)) return at + tarEnd.length === length ? entries : null;
    const field = (from: number, to: number) => header.toString('latin1', from, to).split('\0')[0]!.trim();
    const size = Number.parseInt(field(124, 136), 8);
    const isRight = Number.parseInt(field(148, 156), 8) === sumOf(header) && field(156, 157) === '0';
    if (!isRight || !Number.isSafeInteger(size)) throw new TarError(at);
    entries.push({ name: field(0, maxNameBytes), at: at + block, size });
    at += block + size + tarPadding(size).length;
  }
  return null;
}

export class TarError extends Error {
  override name = 'TarError';
  /** Where no header of an entry is, in bytes. */
  readonly at: number;
  constructor(at: number) {
    super(`no header of an entry at byte ${at}`);
    this.at = at;
  }
}
