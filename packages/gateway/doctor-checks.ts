import { type DoctorCheck, type Findings, isNotEncrypted } from '@tradepost/module';
import type { Sql } from '@tradepost/postgres';
import { type Config, inspectRedis, redisFault, selectProcesses } from '@tradepost/runtime';
import { rateLimitSettings } from './settings.ts';
import { selectTokenFacts } from './tokens/api-token-store.ts';
import { resolveKey } from './upstreams/connect-upstream.ts';
import { pingUpstream, type UpstreamPing, unservedModels } from './upstreams/ping-upstream.ts';
import { type UpstreamConfig, upstreamSettings } from './upstreams/upstream-settings.ts';

/** Deadline of all pings together, because they run at the same time. */
const pingMs = 3_000;
const maxPinged = 20;
const maxNamed = 5;

const listOf = (names: readonly string[]): string =>
  names.slice(0, maxNamed).join(', ') + (names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '');

/** Adds the finding of one ping. `noneAnswers`: whether no upstream answers at all, so that every request fails. */
function judgePing(
  upstream: UpstreamConfig,
  { status, fault, ms }: UpstreamPing,
  noneAnswers: boolean,
  to: Findings,
): void {
  const { name, base_url } = upstream;
  const failed = noneAnswers ? to.error : to.warning;
  if (status === null)
    failed(
      'gateway/upstream-no-answer',
      `upstream ${name} (${base_url}): ${fault}`,
      'check that the service runs; correct its address with gateway upstream add --replace',
    );
  else if (status === 401 || status === 403)
    failed(
      'gateway/upstream-refuses-key',
      `upstream ${name} refuses its key (HTTP ${status})`,
      'put the right key into its variable, or gateway upstream add --replace --key-stdin',
    );
  else if (status >= 300 && status < 400)
    failed(
      'gateway/upstream-redirects',
      `upstream ${name} redirects (HTTP ${status}), which the gateway does not follow`,
      'use the address that it redirects to: gateway upstream add --replace',
    );
  else if (status === 429 || status >= 500)
    to.warning(
      'gateway/upstream-fails',
      `upstream ${name} answers HTTP ${status}`,
      'see the status page of the service; requests go to the next upstream if there is one',
    );
  else if (status === 200) to.ok(`upstream ${name} answers in ${ms} ms`);
  else to.ok(`upstream ${name} answers in ${ms} ms (HTTP ${status}: it does not list its models)`);
}

function checkKey({ name, api_key, base_url }: UpstreamConfig, to: Findings): void {
  if (resolveKey(api_key) === undefined)
    to.warning(
      'gateway/upstream-key-unset',
      `the key of upstream ${name} is not in this environment: ${api_key.slice(4)}`,
      `set ${api_key.slice(4)} in the environment of the gateway, and restart it`,
    );
  if (api_key !== '' && isNotEncrypted(base_url))
    to.note(
      'gateway/upstream-not-encrypted',
      `the key of upstream ${name} is sent without encryption (${base_url})`,
      'use https, unless the whole network is your own',
    );
}

async function checkUpstreams(upstreams: readonly UpstreamConfig[], to: Findings): Promise<void> {
  const enabled = upstreams.filter((upstream) => upstream.enabled);
  for (const upstream of enabled) checkKey(upstream, to);
  const pinged = enabled.slice(0, maxPinged);
  const pings = await Promise.all(pinged.map((upstream) => pingUpstream(upstream, pingMs)));
  const answering = pings.filter(({ status }) => status !== null && status < 300).length;
  for (const [i, upstream] of pinged.entries()) judgePing(upstream, pings[i]!, answering === 0, to);
  if (enabled.length > pinged.length)
    to.note(
      'gateway/upstreams-not-checked',
      `${enabled.length - pinged.length} more upstreams were not checked`,
      'nothing to do: only the first upstreams are checked',
    );
}

/** Checks the Redis of the limiter. When it is the store of the shop, another check covers it. */
async function checkLimiterStore(config: Config, to: Findings): Promise<void> {
  const { limiterRedisUrl } = config;
  if (!limiterRedisUrl || limiterRedisUrl === config.redisUrl) return;
  for (const url of limiterRedisUrl.split(',').map((each) => each.trim())) {
    const { host } = new URL(url);
    try {
      const { version, policy, latencyMs } = await inspectRedis(url);
      to.ok(`the limiter's Redis ${version} at ${host} answers in ${latencyMs} ms`);
      if (policy && policy !== 'noeviction')
        to.warning(
          'gateway/limiter-eviction',
          `the limiter's Redis at ${host} forgets counts under memory pressure (${policy})`,
          'config set maxmemory-policy noeviction',
        );
    } catch (reason) {
      to.error(
        'gateway/limiter-unreachable',
        redisFault('LIMITER_REDIS_URL', url, reason),
        'start it, or correct LIMITER_REDIS_URL: without it no request is limited',
      );
    }
  }
}

async function checkTokens(sql: Sql, defaultRpm: number, to: Findings): Promise<number> {
  const { active, expired, expiring, unlimited } = await selectTokenFacts(sql, defaultRpm);
  if (active > 0) to.ok(`${active} API tokens are in force`);
  if (expiring > 0)
    to.note(
      'gateway/tokens-expire',
      `${expiring} API tokens expire within a week`,
      'gateway token list; create new ones in time: gateway token create',
    );
  if (unlimited > 0)
    to.warning(
      'gateway/tokens-unlimited',
      `${unlimited} API tokens and their users have no limit of requests`,
      'gateway limits <user> --rpm <number>, or settings set ratelimit.user_default_rpm 60',
    );
  if (expired > 0)
    to.note(
      'gateway/tokens-expired',
      `${expired} API tokens have expired and are not revoked`,
      'gateway token list --status expired; revoke those that are not needed',
    );
  return active;
}

const isServed = async (sql: Sql) =>
  (await selectProcesses(sql)).processes.some(({ roles }) => roles.includes('gateway'));

/** Checks the gateway. Without upstreams, tokens and a process that serves it, only the Redis of the limiter is checked. */
const gateway: DoctorCheck = {
  area: { name: 'gateway', sort: 60 },
  async check({ sql, config, settings }, to) {
    const upstreams = settings.get(upstreamSettings.upstreams);
    const active = await checkTokens(sql, settings.get(rateLimitSettings.user_default_rpm), to);
    const isUsed = upstreams.length > 0 || to.findings.length > 0;
    await checkLimiterStore(config, to);
    if (!isUsed && !(await isServed(sql))) return;
    if (!upstreams.some(({ enabled }) => enabled))
      (active > 0 ? to.error : to.note)(
        'gateway/no-upstream',
        'no upstream is enabled: requests to the gateway are answered 503',
        'tradepost gateway upstream add <name> <url> --key-env <name>; a shop without LLM services needs no gateway process',
      );
    await checkUpstreams(upstreams, to);
    const unserved = unservedModels(upstreams, settings.get(upstreamSettings.models));
    if (unserved.length > 0 && upstreams.length > 0)
      to.warning(
        'gateway/models-unserved',
        `no enabled upstream serves ${listOf(unserved)}`,
        'correct gateway.models, or the models of an upstream: gateway upstream add --replace --models',
      );
    if (!settings.get(rateLimitSettings.enabled))
      to.warning(
        'gateway/limits-off',
        'ratelimit.enabled is false: no request is limited',
        'tradepost settings unset ratelimit.enabled',
      );
  },
};

export const gatewayDoctorChecks: readonly DoctorCheck[] = [gateway];
