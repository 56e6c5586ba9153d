import { z } from 'zod';

/**
 * The form of uploaded files in parts: pieces of files, each with a header. A small file is one piece, and a part has many; a
 * file that is longer than a part has pieces in several parts, one after the other.
 */
const headerSchema = z.object({
  driver: z.string().min(1).max(100),
  path: z.string().min(1).max(200),
  mime: z.string().max(200),
  /** Length of the file. */
  size: z.number().int().nonnegative(),
  /** Length of this piece, and its place in the file. */
  length: z.number().int().nonnegative(),
  offset: z.number().int().nonnegative(),
});
export type FilePiece = z.output<typeof headerSchema>;

const prefixBytes = 4;
const maxHeaderBytes = 4_096;

export function frameOf(piece: FilePiece, content: Buffer): Buffer {
  const header = Buffer.from(JSON.stringify(piece));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(header.length);
  return Buffer.concat([prefix, header, content]);
}

export class FrameError extends Error {
  override name = 'FrameError';
}

/** The pieces of a part. Throws FrameError for bytes of another form. */
export function* piecesIn(part: Buffer): Generator<{ piece: FilePiece; content: Buffer }> {
  for (let at = 0; at < part.length; ) {
    if (part.length - at < prefixBytes) throw new FrameError('the part ends early');
    const length = part.readUInt32BE(at);
    const from = at + prefixBytes + length;
    if (length > maxHeaderBytes || from > part.length) throw new FrameError('the part ends early');
    let piece: FilePiece;
    try {
      piece = headerSchema.parse(JSON.parse(part.toString('utf8', at + prefixBytes, from)));
    } catch {
      throw new FrameError('a piece has no header');
    }
    at = from + piece.length;
    if (at > part.length) throw new FrameError('the part ends early');
    yield { piece, content: part.subarray(from, at) };
  }
}
