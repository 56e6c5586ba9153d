import { type Finding, findingsOf, messageOf } from '@tradepost/module';
import { inspectRedis } from '@tradepost/runtime';

export async function checkStore(redisUrl: string | undefined): Promise<Finding[]> {
  const { findings, ok, note, warning, error } = findingsOf('store');
  if (!redisUrl) {
    ok('in-process: right for a single instance');
    return findings;
  }
  try {
    const { version, policy, latencyMs } = await inspectRedis(redisUrl);
    ok(`Redis ${version} at ${new URL(redisUrl).host} answers in ${latencyMs} ms`);
    if (latencyMs > 20)
      warning(`an answer takes ${latencyMs} ms, and requests wait for it`, 'move the store near to the shop');
    if (policy && policy !== 'noeviction')
      warning(
        `its eviction policy is ${policy}: under memory pressure it forgets counters, and with them limits`,
        'config set maxmemory-policy noeviction',
      );
    if (!policy) note('its eviction policy can not be read', 'see that maxmemory-policy is noeviction');
  } catch (reason) {
    error(
      `Redis at ${new URL(redisUrl).host} does not answer: ${messageOf(reason)}`,
      'is it running, and is REDIS_URL right? The shop does not start without it',
    );
  }
  return findings;
}
