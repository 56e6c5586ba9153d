import { paged, pagingOf } from '@tradepost/core';
import { defineRoute, idParams, maxBatch, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, runtimeErrors, timeZone } from '@tradepost/runtime';
import type { z } from 'zod';
import { type DistributionConfig, distributionConfig } from '../config/distribution-config.ts';
import { saveConfig } from '../config/save-config.ts';
import type { Distributor } from '../distributors/distributor.ts';
import { type DistributorFilter, selectDistributor, selectDistributors } from '../distributors/distributor-store.ts';
import { distributionErrors } from '../errors.ts';
import type { Reader } from '../labels.ts';
import type { fractionConfig, percentConfig } from '../schemas.ts';
import { staffEdit, staffView } from './shared-routes.ts';

/** How one family of console pages names rates and statuses. */
export type Dialect<Query extends { page?: number | undefined; size?: number | undefined }, View> = {
  /** The prefix of its paths. */
  readonly path: string;
  readonly config: {
    readonly summary: string;
    readonly schema: typeof percentConfig | typeof fractionConfig;
    readonly view: (config: DistributionConfig) => DistributionConfig;
    /** The changes of a caller as changes with percentages. */
    readonly changes: (body: Partial<DistributionConfig>) => Partial<DistributionConfig>;
  };
  readonly distributors: {
    readonly query: z.ZodType<Query>;
    readonly schema: z.ZodType<View>;
    readonly filter: (query: Query) => DistributorFilter;
    readonly view: (row: Distributor, reader: Reader) => View;
  };
};

/** The routes that both dialects have: the configuration, and distributors. */
export function dialectRoutes<Query extends { page?: number | undefined; size?: number | undefined }, View>(
  runtime: Runtime,
  { path, config, distributors }: Dialect<Query, View>,
): Route[] {
  const { sql, settings } = runtime;
  const zone = () => settings.get(timeZone);
  return [
    defineRoute({
      ...staffView,
      method: 'GET',
      path: `${path}/config`,
      summary: config.summary,
      response: config.schema,
      statements: 0,
      handle: () => config.view(settings.get(distributionConfig)),
    }),
    defineRoute({
      ...staffEdit,
      method: 'PUT',
      path: `${path}/config`,
      summary: 'Change the configuration of distribution; absent keys stay',
      body: config.schema.partial(),
      response: config.schema,
      refuses: [distributionErrors.rates_too_high, runtimeErrors.fixed_setting, runtimeErrors.invalid_setting],
      repeat: 'natural',
      statements: 6,
      handle: async ({ body, caller, actor }) =>
        config.view(await saveConfig(runtime, config.changes(body), { by: `admin:${caller.id}`, actor })),
    }),
    defineRoute({
      ...staffView,
      method: 'GET',
      path: `${path}/distributors`,
      summary: 'Distributors, the newest first',
      query: distributors.query,
      response: pagedOf(distributors.schema, maxBatch),
      statements: 1,
      async handle({ query, locale }) {
        const paging = pagingOf(query, { cap: maxBatch });
        const { rows, total } = await selectDistributors(sql, distributors.filter(query), paging);
        return paged(
          rows.map((row) => distributors.view(row, { zone: zone(), locale })),
          total,
          paging,
        );
      },
    }),
    defineRoute({
      ...staffView,
      method: 'GET',
      path: `${path}/distributors/:id`,
      summary: 'One distributor',
      params: idParams,
      response: distributors.schema,
      refuses: [distributionErrors.distributor_not_found],
      statements: 1,
      async handle({ params, locale }) {
        const row = await selectDistributor(sql, { id: params.id });
        if (!row) throw distributionErrors.distributor_not_found();
        return distributors.view(row, { zone: zone(), locale });
      },
    }),
  ];
}
