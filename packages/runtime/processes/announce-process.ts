import type { Runtime } from '../runtime.ts';
import { keyInUse } from '../secrets/key-file.ts';
import { secretsKeyFileOf } from '../secrets/secrets.ts';
import { measureClock, nameSession } from './process-store.ts';

const everyMs = 15_000;

/**
 * Makes this process known to the commands on its database, with its version, the difference of its clock and the key of its
 * stored secrets, until `stop`.
 * The name is written again after a lost connection.
 */
export async function announceProcess(
  { control, config, instance, log }: Pick<Runtime, 'control' | 'config' | 'instance' | 'log'>,
  version: string,
): Promise<{ stop(): void }> {
  const { production, only: roles } = config;
  const announce = async () =>
    nameSession(control, {
      ...{ instance, version, roles, production },
      offset_ms: await measureClock(control),
      key: keyInUse(secretsKeyFileOf(config)),
    });
  await announce();
  const timer = setInterval(() => {
    announce().catch((error: unknown) => log.debug({ err: error }, 'the name of the session could not be written'));
  }, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
