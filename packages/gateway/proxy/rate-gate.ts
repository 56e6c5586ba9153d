import {
  type Admitted,
  type Dimension,
  dimensions,
  type KeyRef,
  type KeyUsage,
  type Limiter,
  type Limits,
  type Refused,
  type Subject,
  unlimitedAdmission,
  type Verdict,
} from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { gatewayMetrics } from '../gateway-metrics.ts';
import { ipKey } from '../limits/ip-key.ts';
import type { UserLimits } from '../limits/user-limits-store.ts';
import { rateLimitSettings } from '../settings.ts';
import type { ApiToken } from '../tokens/api-token.ts';
import { modelLimits } from '../upstreams/upstream-settings.ts';

type GateRequest = { token: ApiToken | null; address: string; model: string | null };

/** Checks requests against the limits in force, and counts the results. */
export type RateGate = {
  /** Checks and charges one request. `tokens` is 0 and `model` null for a request without them. */
  admit(request: GateRequest & { tokens: number }): Verdict | Promise<Verdict>;
  /** Returns the refusal when a requests dimension is known to be exhausted. Charges nothing and calls no store. */
  peek(request: GateRequest): Refused | null;
  inspect(of: KeyRef): Promise<KeyUsage>;
  reset(only?: KeyRef): Promise<number>;
  close(): Promise<void>;
};

const disabled: Admitted = { ...unlimitedAdmission, unchecked: 'disabled' };
const indexOf = new Map<Dimension, number>(dimensions.map((dimension, i) => [dimension, i]));

/** The kind of key of each dimension. A dimension is checked when the request has such a key and the key has a limit. */
const kinds = dimensions.map((dimension) => dimension.slice(0, dimension.indexOf('_')) as keyof Subject);

/** The limits of a user: their own, else the defaults. */
export const userLimitsOf = (
  settings: Pick<Runtime['settings'], 'get'>,
  { rpm_limit, tpm_limit }: UserLimits,
): Pick<Limits, 'user_rpm' | 'user_tpm'> => ({
  user_rpm: rpm_limit ?? settings.get(rateLimitSettings.user_default_rpm),
  user_tpm: tpm_limit ?? settings.get(rateLimitSettings.user_default_tpm),
});

/** The limits of a request: those of its token, else of its user, else the defaults. */
export function limitsOf(
  settings: Pick<Runtime['settings'], 'get'>,
  token: ApiToken | null,
  model: string | null,
): Limits {
  const { user_rpm, user_tpm } = userLimitsOf(settings, {
    rpm_limit: token?.userRpmLimit ?? null,
    tpm_limit: token?.userTpmLimit ?? null,
  });
  const own = model === null ? null : modelLimits(settings, model);
  return {
    user_rpm,
    user_tpm,
    token_rpm: token?.rpmLimit ?? user_rpm,
    token_tpm: token?.tpmLimit ?? user_tpm,
    ip_rpm: settings.get(rateLimitSettings.ip_rpm),
    model_rpm: own?.rpm ?? settings.get(rateLimitSettings.model_default_rpm),
    model_tpm: own?.tpm ?? settings.get(rateLimitSettings.model_default_tpm),
  };
}

export function openRateGate(runtime: Pick<Runtime, 'settings' | 'metrics'>, limiter: Limiter): RateGate {
  const { settings, metrics } = runtime;
  const { rateLimitChecks } = gatewayMetrics(metrics);
  // To increment a labelled counter takes a third of a microsecond, and a check has seven dimensions. So counts are
  // collected here and written by `flush`.
  const allowed = new Float64Array(dimensions.length);
  const denied = new Float64Array(dimensions.length);
  const flush = () => {
    for (const [i, dimension] of dimensions.entries()) {
      if (allowed[i]! > 0) rateLimitChecks.inc({ dimension, result: 'allow' }, allowed[i]!);
      if (denied[i]! > 0) rateLimitChecks.inc({ dimension, result: 'deny' }, denied[i]!);
    }
    allowed.fill(0);
    denied.fill(0);
  };
  metrics.beforeRead.add(flush);

  const subjectOf = ({ token, address, model }: GateRequest): Subject => ({
    user: token?.userId ?? null,
    token: token?.id ?? null,
    ip: ipKey(address, settings.get(rateLimitSettings.ipv6_prefix)),
    model,
  });
  const counted = (verdict: Verdict, subject: Subject, limits: Limits): Verdict => {
    // A request that passed unchecked was allowed by no dimension, so it is not counted.
    if (verdict.admitted && verdict.unchecked) return verdict;
    for (let i = 0; i < dimensions.length; i += 1)
      if (limits[dimensions[i]!] > 0 && subject[kinds[i]!] !== null) allowed[i]! += 1;
    if (verdict.admitted) return verdict;
    for (const dimension of verdict.denied) {
      const i = indexOf.get(dimension)!;
      allowed[i]! -= 1;
      denied[i]! += 1;
    }
    return verdict;
  };

  return {
    admit(request) {
      if (!settings.get(rateLimitSettings.enabled)) return disabled;
      const subject = subjectOf(request);
      const limits = limitsOf(settings, request.token, request.model);
      const verdict = limiter.check(subject, limits, request.tokens);
      return verdict instanceof Promise
        ? verdict.then((late) => counted(late, subject, limits))
        : counted(verdict, subject, limits);
    },
    peek(request) {
      if (!settings.get(rateLimitSettings.enabled)) return null;
      const subject = subjectOf(request);
      const limits = limitsOf(settings, request.token, request.model);
      const refused = limiter.peek(subject, limits);
      if (refused) counted(refused, subject, limits);
      return refused;
    },
    inspect: (of) => limiter.inspect(of),
    reset: (only) => limiter.reset(only),
    async close() {
      flush();
      metrics.beforeRead.delete(flush);
      await limiter.close();
    },
  };
}
