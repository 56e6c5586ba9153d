import { createSign, type KeyObject, randomBytes } from 'node:crypto';

/** One DER element. Lengths above 127 bytes are preceded by their own length. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest = Math.trunc(rest / 256)) length.unshift(rest % 256);
  const head = content.length < 128 ? [tag, content.length] : [tag, 0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from(head), content]);
}
const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);

/** sha256WithRSAEncryption */
const algorithm = sequence(der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05));
/** A name with only a common name. */
const nameOf = (text: string) =>
  sequence(der(0x31, sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(text)))));
/** GeneralizedTime, without fractions of a second. */
const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));

/** A self-signed X.509 certificate as PEM, with its serial number in hexadecimal capitals. */
export function selfSigned(
  keys: { privateKey: KeyObject; publicKey: KeyObject },
  { name, from, to }: { name: string; from: Date; to: Date },
): { pem: string; serial: string } {
  const number = randomBytes(20);
  // The first bit is the sign, and a number has no zero byte before it.
  number[0] = 0x40 | (number[0]! & 0x3f);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, number),
    algorithm,
    nameOf(name),
    sequence(time(from), time(to)),
    nameOf(name),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = createSign('RSA-SHA256').update(body).sign(keys.privateKey);
  const certificate = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString('base64').match(/.{1,64}/g)!;
  return {
    pem: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    serial: number.toString('hex').toUpperCase(),
  };
}
