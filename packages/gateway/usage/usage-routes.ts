import { instantInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, pagedOf, pageQueryWith, type Route, text } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { z } from 'zod';
import { gatewayErrors } from '../errors.ts';
import { usageGroups, usageSummary } from './usage-summary-store.ts';

const usageQuery = pageQueryWith({
  by: z.enum(usageGroups).default('user').meta({ description: 'the key of the sums' }),
  from: text(64)
    .trim()
    .optional()
    .meta({ description: 'default: 30 days before `to`', examples: ['2026-03-01'] }),
  to: text(64)
    .trim()
    .optional()
    .meta({ description: 'a date includes the whole day; default: now', examples: ['2099-03-01'] }),
});

const tokens = (description: string) => z.int().meta({ description });
const usageSchema = z
  .object({
    key: z.string().meta({ description: 'id of the user or token, model or day', examples: ['42'] }),
    requests: z.int().meta({ description: 'requests that were sent to an upstream' }),
    failed: z.int(),
    cancelled: z.int(),
    open: z.int().meta({ description: 'requests that run, or whose process has died' }),
    charged_tokens: tokens('tokens that the limiter charged: estimated input and largest output'),
    input_tokens: tokens('as the upstreams report; estimated when they do not'),
    output_tokens: tokens('as the upstreams report; estimated when they do not'),
  })
  .meta({ id: 'GatewayUsage' });

const defaultSpanMs = 30 * 86_400_000;

export function usageRoutes({ sql, settings, now }: Pick<Runtime, 'sql' | 'settings' | 'now'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/admin/gateway/usage',
      auth: 'staff',
      permission: 'system:config',
      tag: 'Gateway',
      summary: 'Usage of the LLM gateway by user, token, model or day',
      query: usageQuery,
      response: pagedOf(usageSchema),
      refuses: [gatewayErrors.invalid_moment],
      statements: 1,
      async handle({ query }) {
        const zone = settings.get(timeZone);
        const at = (field: 'from' | 'to', edge: 'start' | 'end'): Date | null => {
          const given = query[field];
          if (!given) return null;
          const instant = instantInZone(given, zone, edge);
          if (!instant) throw gatewayErrors.invalid_moment({ field });
          return instant;
        };
        const until = at('to', 'end');
        // The span includes the last second.
        const to = until ? new Date((Math.floor(until.getTime() / 1_000) + 1) * 1_000) : now();
        const from = at('from', 'start') ?? new Date(to.getTime() - defaultSpanMs);
        const paging = pagingOf(query, { cap: 100 });
        const { size: limit, offset } = paging;
        const { rows, total } = await usageSummary(sql, { from, to, by: query.by, zone, limit, offset });
        return paged(rows, total, paging);
      },
    }),
  ];
}
