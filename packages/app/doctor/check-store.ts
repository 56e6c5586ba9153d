import { type Finding, findingsOf } from '@tradepost/module';
import { inspectRedis, redisFault } from '@tradepost/runtime';

export async function checkStore(redisUrl: string | undefined): Promise<Finding[]> {
  const { findings, ok, note, warning, error } = findingsOf('store');
  if (!redisUrl) {
    ok('in-process: suitable for a single instance');
    return findings;
  }
  try {
    const { version, policy, latencyMs } = await inspectRedis(redisUrl);
    ok(`Redis ${version} at ${new URL(redisUrl).host} answers in ${latencyMs} ms`);
    if (latencyMs > 20)
      warning(
        'store/slow',
        `an answer takes ${latencyMs} ms, and requests wait for it`,
        'move the store closer to the shop',
      );
    if (policy && policy !== 'noeviction')
      warning(
        'store/eviction',
        `its eviction policy is ${policy}: without free memory it deletes counters, and limits stop working`,
        'config set maxmemory-policy noeviction',
      );
    if (!policy)
      note('store/eviction-unknown', 'its eviction policy cannot be read', 'check that maxmemory-policy is noeviction');
  } catch (reason) {
    error(
      'store/unreachable',
      redisFault('REDIS_URL', redisUrl, reason),
      'start it, or correct REDIS_URL: the shop does not start without it',
    );
  }
  return findings;
}
