import type { Transaction } from '@tradepost/postgres';
import type { BackedUpFile, StoredFiles } from '@tradepost/storage';
import { frameOf } from '../format/file-frames.ts';
import type { Manifest, UploadChoice } from '../format/manifest.ts';
import { partBytes } from '../limits.ts';
import type { PartWriter } from './part-writer.ts';

type Uploads = Manifest['uploads'];

const isIncluded =
  (choice: UploadChoice) =>
  (driver: string): boolean =>
    choice === 'all' || (choice === 'local' && driver === 'local');

/**
 * Writes the uploaded files that the snapshot names. A stored file never changes, so it is that of the snapshot at any time. One
 * that was removed meanwhile, or has another length than its row, is counted as missing.
 */
export async function writeFiles(
  tx: Transaction,
  {
    files,
    included,
    parts,
    onFile,
  }: { files: StoredFiles | null; included: UploadChoice; parts: PartWriter; onFile(count: Uploads): void },
): Promise<Uploads> {
  const count = { included, files: 0, bytes: 0, missing: 0 };
  let frames: Buffer[] = [];
  let length = 0;
  const flush = async () => {
    if (length > 0) await parts.add(Buffer.concat(frames, length), { table: null, rows: 0 });
    frames = [];
    length = 0;
  };
  const add = async (file: BackedUpFile, offset: number, content: Buffer) => {
    const { driver, path, mime, size } = file;
    const frame = frameOf({ driver, path, mime, size, offset, length: content.length }, content);
    frames.push(frame);
    length += frame.length;
    if (length >= partBytes) await flush();
  };
  for await (const file of included === 'none' || !files ? [] : files.list(tx, isIncluded(included))) {
    const content = await files!.read(file);
    if (!content) {
      count.missing += 1;
      continue;
    }
    let [offset, held, chunks] = [0, 0, [] as Uint8Array[]];
    const addHeld = async () => {
      await add(file, offset, Buffer.concat(chunks, held));
      offset += held;
      [held, chunks] = [0, []];
    };
    for await (const chunk of content) {
      chunks.push(chunk);
      held += chunk.length;
      if (held >= partBytes) await addHeld();
    }
    if (held > 0) await addHeld();
    // A damaged file must not prevent backups. A restore leaves it out.
    if (offset !== file.size) count.missing += 1;
    else count.files += 1;
    count.bytes += offset;
    onFile(count);
  }
  await flush();
  return count;
}
