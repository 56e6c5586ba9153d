import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** 256 colours from one colour of the seed to another. */
function paletteOf(seed: Buffer): Buffer {
  const palette = Buffer.alloc(768);
  for (let n = 0; n < 256; n += 1)
    for (let part = 0; part < 3; part += 1)
      palette[n * 3 + part] = Math.round(seed[part]! + ((seed[part + 3]! - seed[part]!) * n) / 255);
  return palette;
}

/** A PNG of this size with a gradient and a frame. The same text gives the same bytes. */
export function drawPng(text: string, width: number, height: number): Buffer {
  const seed = createHash('sha256').update(text).digest();
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each pixel, which number a colour of the palette.
  header.set([8, 3, 0, 0, 0], 8);
  const border = Math.max(1, Math.round(Math.min(width, height) * (0.05 + seed[6]! / 2_000)));
  const steepness = 1 + seed[7]! / 128;
  const row = Buffer.alloc(width + 1);
  const pixels = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    const isFrame = y < border || y >= height - border;
    row.fill(isFrame ? 0 : Math.min(255, Math.round((y / height) * 255 * steepness)), 1);
    row.fill(0, 1, 1 + border);
    row.fill(0, 1 + width - border);
    row.copy(pixels, y * (width + 1));
  }
  const image = deflateSync(pixels, { level: 6 });
  return Buffer.concat([
    ...[signature, chunk('IHDR', header), chunk('PLTE', paletteOf(seed)), chunk('IDAT', image)],
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
