import { defineRoute, list, type Route } from '@tradepost/http';
import { z } from 'zod';
import { maxUpstreamModels, maxUpstreams } from './upstream-settings.ts';
import type { Upstreams } from './upstreams.ts';

const upstreamSchema = z
  .object({
    name: z.string().meta({ examples: ['main'] }),
    base_url: z.string().meta({ examples: ['https://api.example.com/v1'] }),
    models: list(z.string(), maxUpstreamModels).meta({ description: 'names, or patterns with *', examples: [['*']] }),
    priority: z.int().meta({ description: 'lower is tried first' }),
    enabled: z.boolean(),
    has_key: z.boolean().meta({ description: 'whether a key is configured and found; the key itself is never shown' }),
    state: z
      .enum(['up', 'resting', 'probing', 'disabled'])
      .meta({ description: 'resting: tried last, as it failed or is limited; probing: the next request finds out' }),
    failures: z.int().meta({ description: 'in a row' }),
    rest_ms: z.int().meta({ description: 'until it is asked again' }),
  })
  .meta({ id: 'GatewayUpstream' });

/** How the upstreams are, as this process sees them. */
export function upstreamRoutes(upstreams: Pick<Upstreams, 'state'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/admin/gateway/upstreams',
      auth: 'staff',
      permission: 'system:config',
      tag: 'Gateway',
      summary: 'The upstreams of the LLM gateway and how they are, as seen by the instance that answers',
      response: list(upstreamSchema, maxUpstreams),
      statements: 0,
      handle: () => upstreams.state().map((state) => ({ ...state, models: [...state.models] })),
    }),
  ];
}
