import { promisify } from 'node:util';
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import { backupErrors } from '../errors.ts';

export const compressions = ['zstd', 'gzip'] as const;
export type Compression = (typeof compressions)[number];

type Codec = {
  readonly compress: (bytes: Buffer) => Promise<Buffer>;
  /** Rejects when the content is longer than `maxOutputLength`. */
  readonly decompress: (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;
};

const gzipLevel = 5;
// Node.js has zstd since 22.15.
const hasZstd = typeof zstdCompress === 'function';

const codecs: Readonly<Record<Compression, Codec | null>> = {
  zstd: hasZstd ? { compress: promisify(zstdCompress), decompress: promisify(zstdDecompress) } : null,
  gzip: {
    compress: (bytes) => promisify<Buffer, object, Buffer>(gzip)(bytes, { level: gzipLevel }),
    decompress: promisify<Buffer, object, Buffer>(gunzip),
  },
};

/** The compression of new backups. */
export const compressionOfBackups: Compression = hasZstd ? 'zstd' : 'gzip';

/** Refuses a compression that this Node.js does not have. */
export function codecOf(compression: Compression): Codec {
  const codec = codecs[compression];
  if (!codec) throw backupErrors.no_compression({ compression });
  return codec;
}
