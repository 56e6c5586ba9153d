import { createHash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { enqueueJobs } from '@tradepost/runtime';
import { identityErrors } from '../errors.ts';
import {
  smsPerAddressHour,
  smsPerPhoneDay,
  smsPerPhoneHour,
  smsProvider,
  smsResendSeconds,
  smsWebhookSecret,
  smsWebhookUrl,
} from '../settings.ts';
import { networkOf } from './attempt-limits.ts';
import type { Count, Limit, Reservations } from './attempt-reservations.ts';
import {
  countWrongGuess,
  insertCodeRequest,
  lockCode,
  type StoredCode,
  selectRequestedAt,
  useUpCode,
} from './sms-store.ts';

/** Contract: commerce-rules.md 7. */
export const codeLifeMs = 5 * 60_000;
const guesses = 5;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
export const sendTask = 'identity.send_sms_code';

/** Salted, not slow: it lives for five minutes, and who reads the table reads the signing keys beside it. */
const hashOf = (salt: Buffer, phone: string, code: string) =>
  createHash('sha256').update(salt).update(`${phone}:${code}`).digest();

/** Six random digits for this phone, and what is stored of them. */
export function newCode(phone: string, at: Date): { code: string; stored: StoredCode } {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const salt = randomBytes(16);
  const stored = { salt, code_hash: hashOf(salt, phone, code), attempts_left: guesses };
  return { code, stored: { ...stored, expires_at: new Date(at.getTime() + codeLifeMs) } };
}

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'settings' | 'config' | 'log' | 'now'>;
  reservations: Reservations;
};

function readyProvider({ settings, config, log }: Deps['runtime']): 'test' | 'webhook' {
  const provider = settings.get(smsProvider);
  if (provider === 'test' && !config.production) return provider;
  if (provider === 'webhook' && settings.get(smsWebhookUrl) && settings.get(smsWebhookSecret)) return provider;
  if (provider === 'off') throw identityErrors.sms_not_set_up();
  log.warn({ provider }, 'no login code can be sent: set sms.provider, sms.webhook_url and sms.webhook_secret');
  throw identityErrors.sms_not_set_up();
}

/** Counts at these limits, or refuses with the time to wait. */
async function reserveOrRefuse(reservations: Reservations, limits: readonly Limit[]): Promise<Count[]> {
  const reserved = await reservations.reserve(limits);
  if ('seconds' in reserved) throw identityErrors.sms_too_many({ seconds: reserved.seconds });
  return reserved.counts;
}

/**
 * Makes a code for this phone and sends it. Answers the code itself with the test provider only; with the webhook it is
 * made by the job that sends it, so that nothing but its hash is ever stored.
 */
export async function sendCode(
  { runtime, reservations }: Deps,
  phone: string,
  address: string,
): Promise<string | null> {
  const { settings } = runtime;
  const provider = readyProvider(runtime);
  // Of an address every request counts, of a phone those that sent a code.
  const ofAddress = { kind: 'sms:address', of: networkOf(address), windowMs: hourMs };
  const [asked] = await reserveOrRefuse(reservations, [{ ...ofAddress, max: settings.get(smsPerAddressHour) }]);
  await asked!.keep();
  const counts = await reserveOrRefuse(reservations, [
    { kind: 'sms:phone_hour', of: phone, windowMs: hourMs, max: settings.get(smsPerPhoneHour) },
    { kind: 'sms:phone_day', of: phone, windowMs: dayMs, max: settings.get(smsPerPhoneDay) },
  ]);
  const code = await registerCode(runtime, phone, provider).catch(async (error: unknown) => {
    await Promise.all(counts.map((count) => count.release()));
    throw error;
  });
  await Promise.all(counts.map((count) => count.keep()));
  return code;
}

/** Stores the code, or the request for one with the job that sends it. */
async function registerCode(
  { sql, settings, now }: Deps['runtime'],
  phone: string,
  provider: 'test' | 'webhook',
): Promise<string | null> {
  const at = now();
  const resendMs = settings.get(smsResendSeconds) * 1000;
  const requestId = randomUUID();
  const made = provider === 'test' ? newCode(phone, at) : null;
  const taken = await sql.begin(async (tx) => {
    const notBefore = new Date(at.getTime() - resendMs);
    if (!(await insertCodeRequest(tx, { phone, requestId, at, notBefore, code: made?.stored ?? null }))) return false;
    if (!made) await enqueueJobs(tx, [{ task: sendTask, payload: { request_id: requestId }, maxAttempts: 3 }]);
    return true;
  });
  if (taken) return made?.code ?? null;
  const last = (await selectRequestedAt(sql, phone)) ?? at;
  const seconds = Math.max(1, Math.ceil((last.getTime() + resendMs - at.getTime()) / 1000));
  throw identityErrors.sms_too_soon({ seconds });
}

export type CodeCheck = 'right' | 'wrong' | 'expired' | 'dead';

/** Checks a code and uses it up, or counts the wrong guess: the transaction must commit either way. */
export async function takeCode(tx: Transaction, phone: string, code: string, at: Date): Promise<CodeCheck> {
  const stored = await lockCode(tx, phone);
  if (!stored || stored.expires_at <= at) return 'expired';
  if (stored.attempts_left === 0) return 'dead';
  if (!timingSafeEqual(hashOf(stored.salt, phone, code), stored.code_hash)) {
    await countWrongGuess(tx, phone);
    return stored.attempts_left === 1 ? 'dead' : 'wrong';
  }
  await useUpCode(tx, phone);
  return 'right';
}
