import type { Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { distributorView } from '../distributors/distributor-views.ts';
import { distributorQuery, distributorSchema, percentConfig } from '../schemas.ts';
import { dialectRoutes } from './dialect-routes.ts';
import { chosen, sharedRoutes } from './shared-routes.ts';

/** One client sends the prefix twice. */
const path = '/admin/api/admin/api/distribution';

/** The first dialect: rates in percent, statuses as text. */
export const percentRoutes = (runtime: Runtime): Route[] => [
  ...dialectRoutes(runtime, {
    path,
    config: {
      summary: 'The configuration of distribution, with rates in percent',
      schema: percentConfig,
      view: (config) => config,
      changes: (body) => body,
    },
    distributors: {
      query: distributorQuery,
      schema: distributorSchema,
      filter({ status }) {
        const one = chosen(status);
        return { statuses: one && [one] };
      },
      view: distributorView,
    },
  }),
  ...sharedRoutes(runtime, path),
];
