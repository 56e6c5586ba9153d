import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { StoredFiles } from '@tradepost/storage';
import { backupErrors } from '../errors.ts';
import { type FilePiece, FrameError, piecesIn } from '../format/file-frames.ts';
import { reportedFiles } from '../limits.ts';
import type { OpenedBackup } from './read-parts.ts';

/** `failed`: files that could not be written, with the reasons of the first ones. */
export type RestoredFiles = { written: number; present: number; failed: number; reasons: string[] };

/** The pieces of all files, in order. Refuses parts that are altered. */
async function* piecesOf(backup: OpenedBackup) {
  for (const part of backup.manifest.parts) {
    if (part.table !== null) continue;
    const content = await backup.readPart(part);
    try {
      yield* piecesIn(content);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      throw backupErrors.altered({ place: backup.location, part: part.name });
    }
  }
}

/** Writes the uploaded files of a backup. A file that cannot be written is reported, and the others are written. */
export async function restoreFiles(
  backup: OpenedBackup,
  files: StoredFiles,
  onFile: (count: RestoredFiles) => void = () => {},
): Promise<RestoredFiles> {
  const count: RestoredFiles = { written: 0, present: 0, failed: 0, reasons: [] };
  let open: { piece: FilePiece; stream: PassThrough; done: Promise<unknown> } | null = null;
  const fail = (path: string, error: unknown) => {
    count.failed += 1;
    if (count.reasons.length < reportedFiles) count.reasons.push(`${path}: ${(error as Error).message}`);
  };
  const begin = (piece: FilePiece) => {
    const stream = new PassThrough();
    const done = files.write(piece, stream).then(
      (outcome) => {
        count[outcome] += 1;
        stream.resume();
      },
      (error: unknown) => {
        fail(piece.path, error);
        stream.resume();
      },
    );
    return { piece, stream, done };
  };
  const end = async () => {
    open?.stream.end();
    await open?.done;
    if (open) onFile(count);
    open = null;
  };
  for await (const { piece, content } of piecesOf(backup)) {
    if (piece.offset === 0) {
      await end();
      open = begin(piece);
    }
    if (!open) continue;
    if (!open.stream.write(content)) await Promise.race([once(open.stream, 'drain'), open.done]);
    if (piece.offset + piece.length === piece.size) await end();
  }
  await end();
  return count;
}
