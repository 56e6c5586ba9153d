import { readFile } from 'node:fs/promises';
import type { Uploads } from '@tradepost/storage';
import { ServiceError } from '../drivers/driver.ts';
import { readPicture, type ServiceNetwork } from '../drivers/service-network.ts';
import { maxRefImageBytes } from '../limits.ts';

type Deps = { readonly uploads: Pick<Uploads, 'find'>; readonly network: Pick<ServiceNetwork, 'fetch'> };

async function bytesOf(chunks: AsyncIterable<Uint8Array>, max: number): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > max) throw new ServiceError('ref_image', `it is larger than ${max} bytes`, { permanent: true });
    read.push(chunk);
  }
  return Buffer.concat(read);
}

/** The types that services take, by the first bytes. */
const mimeOf = (bytes: Buffer): string | null => {
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('\x89PNG')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : null;
};

/** The bytes of a reference image: of an upload, or at an http address. Null without one. Throws ServiceError. */
export async function readRefImage({ uploads, network }: Deps, address: string, signal: AbortSignal) {
  if (address === '') return null;
  const upload = await uploads.find(address);
  const file = upload?.file ?? null;
  const chunks = readPicture(network.fetch, upload?.address ?? address, signal);
  const bytes = await (file === null ? bytesOf(chunks, maxRefImageBytes) : readFile(file)).catch((error: unknown) => {
    const isKnown = error instanceof ServiceError;
    throw new ServiceError('ref_image', isKnown ? error.message : 'its file is missing', {
      permanent: !isKnown || error.permanent,
    });
  });
  const mime = mimeOf(bytes);
  if (mime === null || bytes.length > maxRefImageBytes)
    throw new ServiceError('ref_image', 'it is not a PNG, JPEG or WebP picture of at most 10 MB', { permanent: true });
  return { bytes, mime };
}
