import {
  createCipheriv,
  createSign,
  createVerify,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { NoticeOptions, Received } from '../service.ts';
import { selfSigned } from './certificate.ts';

export const account = {
  appId: 'wx0000000000000001',
  mchId: '1900000001',
  apiV3Key: 'simulator-api-v3-key-32-letters!',
};
const dayMs = 24 * 60 * 60_000;

type Platform = { serial: string; pem: string; privateKey: KeyObject };

/** The keys of WeChat Pay and of its merchant, and what is made with them. */
export function openSigning(now: () => Date) {
  const merchant = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const unknown = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const merchantSerial = randomBytes(20).toString('hex').toUpperCase();
  const platforms: Platform[] = [];
  const rotate = () => {
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const period = { from: new Date(now().getTime() - dayMs), to: new Date(now().getTime() + 365 * dayMs) };
    platforms.push({ ...selfSigned(keys, { name: 'Simulated WeChat Pay', ...period }), privateKey: keys.privateKey });
  };
  rotate();
  const fixed = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const fixedId = 'PUB_KEY_ID_0119000000010001';
  let usesPublicKey = false;
  /** The key that signs, with the name that messages give it. */
  const current = (): Pick<Platform, 'serial' | 'privateKey'> =>
    usesPublicKey ? { serial: fixedId, privateKey: fixed.privateKey } : platforms.at(-1)!;

  const seal = (text: string, associated_data: string) => {
    const nonce = randomBytes(6).toString('hex');
    const cipher = createCipheriv('aes-256-gcm', Buffer.from(account.apiV3Key), Buffer.from(nonce));
    cipher.setAAD(Buffer.from(associated_data));
    const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { algorithm: 'AEAD_AES_256_GCM', nonce, associated_data, ciphertext: bytes.toString('base64') };
  };
  const headersFor = (body: string, { age = 0, wrongSignature = false }: NoticeOptions = {}) => {
    const timestamp = String(Math.trunc(now().getTime() / 1000) - age);
    const nonce = randomBytes(16).toString('hex');
    const key = wrongSignature ? unknown.privateKey : current().privateKey;
    const signature = createSign('RSA-SHA256').update(`${timestamp}\n${nonce}\n${body}\n`).sign(key, 'base64');
    return {
      'content-type': 'application/json',
      'wechatpay-timestamp': timestamp,
      'wechatpay-nonce': nonce,
      'wechatpay-signature': signature,
      'wechatpay-serial': current().serial,
    };
  };
  const isAuthorized = ({ method, target, headers, body }: Received): boolean => {
    const [scheme, rest = ''] = (headers.get('authorization') ?? '').split(' ');
    const fields = Object.fromEntries([...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]));
    const { mchid, nonce_str, signature = '', timestamp, serial_no } = fields;
    if (scheme !== 'WECHATPAY2-SHA256-RSA2048' || mchid !== account.mchId || serial_no !== merchantSerial) return false;
    if (Math.abs(now().getTime() / 1000 - Number(timestamp)) > 300) return false;
    const text = `${method}\n/wechat${target}\n${timestamp}\n${nonce_str}\n${body}\n`;
    return createVerify('RSA-SHA256').update(text).verify(merchant.publicKey, signature, 'base64');
  };

  return {
    ...{ merchant, merchantSerial, platforms, rotate, seal, headersFor, isAuthorized },
    /** Whether the merchant has a public key of WeChat Pay instead of certificates. */
    usePublicKey(uses: boolean): { id: string; pem: string } {
      usesPublicKey = uses;
      return { id: fixedId, pem: fixed.publicKey.export({ type: 'spki', format: 'pem' }) as string };
    },
    /** Removes all platform certificates but the last. */
    retire: () => void platforms.splice(0, platforms.length - 1),
  };
}
export type Signing = ReturnType<typeof openSigning>;
