import { createHash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { enqueueJobs } from '@tradepost/runtime';
import { identityErrors } from '../errors.ts';
import { smsProvider } from '../messages/message-settings.ts';
import { type Messenger, notReadyText } from '../messages/messenger.ts';
import { loginCodeNotice } from '../messages/notices.ts';
import { smsPerAddressHour, smsPerPhoneDay, smsPerPhoneHour, smsResendSeconds } from '../settings.ts';
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

/** The lifetime of a code, and the number of guesses that it allows. */
export const codeLifeMs = 5 * 60_000;
const allowedGuesses = 5;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
export const sendTask = 'identity.send_sms_code';
/** A shopper waits for the code, so its job starts before all others. */
const codePriority = -10;

/**
 * A fast hash with a salt. A slow hash would protect nothing: a code lives for five minutes, and the signing keys are in the
 * same database.
 */
const hashOf = (salt: Buffer, phone: string, code: string) =>
  createHash('sha256').update(salt).update(`${phone}:${code}`).digest();

/** A code of six random digits, and the hash that is stored of it. */
export function newCode(phone: string, at: Date): { code: string; stored: StoredCode } {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const salt = randomBytes(16);
  const stored = { salt, code_hash: hashOf(salt, phone, code), attempts_left: allowedGuesses };
  return { code, stored: { ...stored, expires_at: new Date(at.getTime() + codeLifeMs) } };
}

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'settings' | 'config' | 'log' | 'now'>;
  messenger: Messenger;
  reservations: Reservations;
};

/** How the code reaches its shopper: in the answer, for development, or by a message. Throws the refusal when neither is possible. */
function chooseWay({ runtime: { settings, log }, messenger }: Deps): 'answer' | 'message' {
  const provider = settings.get(smsProvider);
  const notReady = messenger.notReady('sms', loginCodeNotice.name);
  if (!notReady) return provider === 'test' ? 'answer' : 'message';
  if (provider !== 'off') log.warn({ provider, reason: notReadyText('sms', notReady) }, 'no login code can be sent');
  throw identityErrors.sms_not_set_up();
}

/** Counts an attempt at these limits. Throws a refusal with the time to wait when a limit is reached. */
async function reserveOrRefuse(reservations: Reservations, limits: readonly Limit[]): Promise<Count[]> {
  const reserved = await reservations.reserve(limits);
  if ('seconds' in reserved) throw identityErrors.sms_too_many({ seconds: reserved.seconds });
  return reserved.counts;
}

/**
 * Sends a code to this phone. With the provider test the code is returned. With another provider the job creates the code when
 * it sends it, so only the hash of the code is ever stored; the result is null.
 */
export async function sendCode(deps: Deps, phone: string, address: string): Promise<string | null> {
  const { runtime, reservations } = deps;
  const { settings } = runtime;
  const way = chooseWay(deps);
  // The limit of the address counts all requests. The limits of the phone count requests that sent a code.
  const ofAddress = { kind: 'sms:address', of: networkOf(address), windowMs: hourMs };
  const requests = await reserveOrRefuse(reservations, [{ ...ofAddress, max: settings.get(smsPerAddressHour) }]);
  await Promise.all(requests.map((count) => count.keep()));
  const counts = await reserveOrRefuse(reservations, [
    { kind: 'sms:phone_hour', of: phone, windowMs: hourMs, max: settings.get(smsPerPhoneHour) },
    { kind: 'sms:phone_day', of: phone, windowMs: dayMs, max: settings.get(smsPerPhoneDay) },
  ]);
  const code = await registerCode(runtime, phone, way).catch(async (error: unknown) => {
    await Promise.all(counts.map((count) => count.release()));
    throw error;
  });
  await Promise.all(counts.map((count) => count.keep()));
  return code;
}

/** Stores the code, or enqueues the job that creates and sends it. Refuses a second request within the resend time. */
async function registerCode(
  { sql, settings, now }: Deps['runtime'],
  phone: string,
  way: 'answer' | 'message',
): Promise<string | null> {
  const at = now();
  const resendMs = settings.get(smsResendSeconds) * 1000;
  const requestId = randomUUID();
  const testCode = way === 'answer' ? newCode(phone, at) : null;
  const isRegistered = await sql.begin(async (tx) => {
    const notBefore = new Date(at.getTime() - resendMs);
    if (!(await insertCodeRequest(tx, { phone, requestId, at, notBefore, code: testCode?.stored ?? null })))
      return false;
    const job = { task: sendTask, payload: { request_id: requestId }, maxAttempts: 3, priority: codePriority };
    if (!testCode) await enqueueJobs(tx, [job]);
    return true;
  });
  if (isRegistered) return testCode?.code ?? null;
  const last = (await selectRequestedAt(sql, phone)) ?? at;
  const seconds = Math.max(1, Math.ceil((last.getTime() + resendMs - at.getTime()) / 1000));
  throw identityErrors.sms_too_soon({ seconds });
}

export type CodeCheck = 'right' | 'wrong' | 'expired' | 'dead';

/** Checks a code. A right code is used up, a wrong guess is counted. The transaction must commit in both cases. */
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
