import type { Settings } from '@tradepost/runtime';
import type { RequestFacts } from '../messages/chat-request.ts';
import { countTokens } from '../messages/estimate.ts';
import { rateLimitSettings } from '../settings.ts';
import type { ApiToken } from '../tokens/api-token.ts';
import { upstreamSettings } from '../upstreams/upstream-settings.ts';
import type { ModelRoute } from './model-routes.ts';
import type { AssumedOutput } from './rate-answer.ts';
import { limitsOf } from './rate-gate.ts';

/** The smallest limit of tokens per minute that applies to a request; infinity without a limit. */
export function smallestTokenLimit(settings: Pick<Settings, 'get'>, token: ApiToken, modelKey: string): number {
  let most = Number.POSITIVE_INFINITY;
  if (!settings.get(rateLimitSettings.enabled)) return most;
  const { user_tpm, token_tpm, model_tpm } = limitsOf(settings, token, modelKey);
  for (const limit of [user_tpm, token_tpm, model_tpm]) if (limit > 0 && limit < most) most = limit;
  return most;
}

type Price = { input: number; output: number; isPartial: boolean; assumed: AssumedOutput | null };

/**
 * The cost of a request: its input and its largest output, in tokens. Counting stops when the cost exceeds `most`; then
 * `isPartial` is true.
 */
export async function priceRequest(
  settings: Pick<Settings, 'get'>,
  facts: RequestFacts,
  route: ModelRoute,
  most: number,
): Promise<Price> {
  const each =
    facts.maxOutput ?? route.config?.max_output_tokens ?? settings.get(upstreamSettings.default_max_output_tokens);
  const output = each * facts.answers;
  const mostInput = most - output - facts.extraTokens;
  const counting = countTokens(facts.texts, mostInput);
  const counted = typeof counting === 'number' ? counting : await counting;
  const assumed = facts.maxOutput === null ? { tokens: output, field: facts.maxField } : null;
  return { input: counted + facts.extraTokens, output, isPartial: counted > mostInput, assumed };
}
