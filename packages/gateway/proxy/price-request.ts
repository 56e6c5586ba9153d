import type { Settings } from '@tradepost/runtime';
import type { RequestFacts } from '../messages/chat-request.ts';
import { countTokens } from '../messages/estimate.ts';
import { rateLimitSettings } from '../settings.ts';
import type { ApiToken } from '../tokens/api-token.ts';
import { upstreamSettings } from '../upstreams/upstream-settings.ts';
import type { ModelRoute } from './model-routes.ts';
import { limitsOf } from './rate-gate.ts';

/** The smallest number of tokens that a minute of this request's keys ever allows. */
export function mostTokens(settings: Pick<Settings, 'get'>, token: ApiToken, modelKey: string): number {
  let most = Number.POSITIVE_INFINITY;
  if (!settings.get(rateLimitSettings.enabled)) return most;
  const { user_tpm, token_tpm, model_tpm } = limitsOf(settings, token, modelKey);
  for (const limit of [user_tpm, token_tpm, model_tpm]) if (limit > 0 && limit < most) most = limit;
  return most;
}

/** The tokens that a request is charged: its input and the most output it can have. Input above `most` is not counted to the end. */
export async function priceRequest(
  settings: Pick<Settings, 'get'>,
  wanted: RequestFacts,
  route: ModelRoute,
  most: number,
): Promise<{ input: number; output: number; partly: boolean }> {
  const each =
    wanted.maxOutput ?? route.config?.max_output_tokens ?? settings.get(upstreamSettings.default_max_output_tokens);
  const output = each * wanted.answers;
  const mostInput = most - output - wanted.extraTokens;
  const counting = countTokens(wanted.texts, mostInput);
  const counted = typeof counting === 'number' ? counting : await counting;
  return { input: counted + wanted.extraTokens, output, partly: counted > mostInput };
}
