import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(10 * 512);
let used = pool.length;

/** A UUID of version 7. It begins with the time, so that rows of one minute are close together in the index. */
export function newUsageId(now = Date.now()): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const time = now.toString(16).padStart(12, '0');
  const random = pool.toString('hex', used, used + 10);
  used += 10;
  const variant = ((Number.parseInt(random[3]!, 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
