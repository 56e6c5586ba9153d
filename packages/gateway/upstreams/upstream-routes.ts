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
    has_key: z.boolean().meta({ description: 'whether a key is configured and available; the key is never shown' }),
    state: z.enum(['up', 'resting', 'probing', 'disabled']).meta({
      description:
        'resting: the circuit is open after failures or a 429, so it is tried last; probing: the next request is a trial',
    }),
    failures: z.int().meta({ description: 'consecutive failures' }),
    rest_ms: z.int().meta({ description: 'time until it is tried again' }),
  })
  .meta({ id: 'GatewayUpstream' });

/** The state of the upstreams, as this process sees it. */
export function upstreamRoutes(upstreams: Pick<Upstreams, 'state'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/admin/gateway/upstreams',
      auth: 'staff',
      permission: 'system:config',
      tag: 'Gateway',
      summary: 'The upstreams of the LLM gateway and their state, as the answering instance sees it',
      response: list(upstreamSchema, maxUpstreams),
      statements: 0,
      handle: () => upstreams.state().map((state) => ({ ...state, models: [...state.models] })),
    }),
  ];
}
