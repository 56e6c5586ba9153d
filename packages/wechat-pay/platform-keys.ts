import { createVerify, type KeyObject, X509Certificate } from 'node:crypto';

/** A platform certificate with its serial number in capitals. */
export type PlatformKey = { serial: string; key: KeyObject; until: Date };

const keepMs = 12 * 60 * 60_000;
/** Messages with unknown serial numbers, which anyone can send, make the shop download the certificates at most this often. */
const maxPerMinute = 5;
const minuteMs = 60_000;

export function platformKeyOf(pem: string): PlatformKey {
  const certificate = new X509Certificate(pem);
  return {
    serial: certificate.serialNumber.toUpperCase(),
    key: certificate.publicKey,
    until: new Date(certificate.validTo),
  };
}

/**
 * The public keys of WeChat Pay, by serial number. They are downloaded when a message names one that is not known, and again after
 * half a day: WeChat Pay announces a new certificate before it uses it.
 */
export function openPlatformKeys(
  download: (signal: AbortSignal) => Promise<readonly PlatformKey[]>,
  now: () => Date,
): { keyOf(serial: string, account: string, signal: AbortSignal): Promise<KeyObject | null> } {
  let keys = new Map<string, PlatformKey>();
  let owner = '';
  let readAt = Number.NEGATIVE_INFINITY;
  let downloads: number[] = [];
  let running: Promise<void> | null = null;
  const refresh = (signal: AbortSignal) =>
    (running ??= download(signal)
      .then((all) => {
        keys = new Map(all.map((one) => [one.serial, one]));
      })
      .finally(() => {
        readAt = now().getTime();
        downloads.push(readAt);
        running = null;
      }));
  return {
    async keyOf(serial, account, signal) {
      if (owner !== account) {
        owner = account;
        keys = new Map();
        readAt = Number.NEGATIVE_INFINITY;
      }
      const at = now().getTime();
      downloads = downloads.filter((time) => at - time < minuteMs);
      const usable = (): KeyObject | null => {
        const found = keys.get(serial.toUpperCase());
        return found && found.until.getTime() > at ? found.key : null;
      };
      const known = usable();
      if ((at - readAt > keepMs || !known) && downloads.length < maxPerMinute)
        await refresh(signal).catch((error: unknown) => {
          // A certificate that is known and valid serves until the next download.
          if (!known) throw error;
        });
      return usable();
    },
  };
}

/** Whether WeChat Pay signed this message. */
export const isSigned = (
  message: { timestamp: string; nonce: string; body: string },
  signature: string,
  key: KeyObject,
): boolean =>
  createVerify('RSA-SHA256')
    .update(`${message.timestamp}\n${message.nonce}\n${message.body}\n`)
    .verify(key, signature, 'base64');
