import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { openPlatformKeys, type PlatformKey } from './platform-keys.ts';

const hourMs = 3_600_000;
const { signal } = new AbortController();

test('a certificate that is known serves while the download of new ones fails; an unknown one does not', async () => {
  let now = Date.UTC(2026, 2, 1);
  let isAway = false;
  let downloads = 0;
  const { publicKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const known: PlatformKey = { serial: 'AB', key, until: new Date(now + 48 * hourMs) };
  const keys = openPlatformKeys(
    async () => {
      downloads += 1;
      if (isAway) throw new Error('away');
      return [known];
    },
    () => new Date(now),
  );
  const keyOf = (serial: string) => keys.keyOf(serial, 'merchant', signal);
  expect(await keyOf('ab')).toBe(key);
  isAway = true;
  now += 13 * hourMs;
  expect(await keyOf('AB')).toBe(key);
  await expect(keyOf('CD')).rejects.toThrow('away');
  now += 36 * hourMs;
  // It has expired.
  await expect(keyOf('AB')).rejects.toThrow('away');
  const before = downloads;
  for (let i = 0; i < 20; i += 1) await keyOf('CD').catch(() => {});
  expect(downloads - before).toBeLessThanOrEqual(5);
});
