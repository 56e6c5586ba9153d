import type { Runtime } from '../runtime.ts';
import { keyInUse } from '../secrets/key-file.ts';
import { secretsKeyFileOf } from '../secrets/secrets.ts';
import { measureClock, nameSession } from './process-store.ts';

const everyMs = 15_000;
/** As often as the key file itself is read again. */
const keyCheckMs = 1_000;

/**
 * Makes this process known to the commands on its database, with its version, the difference of its clock and the key of its
 * stored secrets, until `stop`.
 * The name is written again after a lost connection, and when the key changes.
 */
export async function announceProcess(
  { control, config, instance, log }: Pick<Runtime, 'control' | 'config' | 'instance' | 'log'>,
  version: string,
): Promise<{ stop(): void }> {
  const { production, only: roles } = config;
  const file = secretsKeyFileOf(config);
  let announced = { at: 0, key: '' };
  const announce = async (key: string) => {
    announced = { at: performance.now(), key };
    const offset_ms = await measureClock(control);
    await nameSession(control, { instance, version, roles, production, offset_ms, key });
  };
  await announce(keyInUse(file));
  const timer = setInterval(() => {
    const key = keyInUse(file);
    if (key === announced.key && performance.now() - announced.at < everyMs) return;
    announce(key).catch((error: unknown) => log.debug({ err: error }, 'the name of the session could not be written'));
  }, keyCheckMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
