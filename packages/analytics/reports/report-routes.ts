import { defineRoute, fileUrls, type Route } from '@tradepost/http';
import type { z } from 'zod';
import { conversionReport } from './conversion.ts';
import { customersReport } from './customers.ts';
import { productsReport } from './products.ts';
import type { ReportDeps, ReportRequest } from './report-deps.ts';
import { salesReport } from './sales.ts';
import { conversionView, customersView, productsView, reportQuery, salesView, trafficView } from './schemas.ts';
import { trafficReport } from './traffic.ts';

type Report<S extends z.ZodType> = {
  readonly name: string;
  readonly summary: string;
  readonly response: S;
  readonly statements: number;
  readonly read: (deps: ReportDeps, request: ReportRequest) => Promise<z.input<S>>;
};

export function reportRoutes(deps: ReportDeps): Route[] {
  const routeOf = <S extends z.ZodType>({ name, summary, response, statements, read }: Report<S>): Route =>
    defineRoute({
      method: 'GET',
      path: `/admin/api/analytics/${name}`,
      auth: 'staff',
      permission: 'order:view',
      tag: 'Analytics (admin)',
      summary,
      query: reportQuery,
      response,
      statements,
      slots: deps.slots,
      handle: ({ query, locale, request }) =>
        read(deps, { days: query.days, locale, fileUrl: fileUrls(request, deps.runtime.config).absolute }),
    });
  return [
    // The roll-up, the running day, and days that the roll-up does not have.
    routeOf({ name: 'sales', summary: 'Sales of a period', response: salesView, statements: 3, read: salesReport }),
    routeOf({
      name: 'products',
      summary: 'Products: what was sold in a period, and the stock now',
      response: productsView,
      statements: 5,
      read: productsReport,
    }),
    routeOf({
      name: 'customers',
      summary: 'Customers of a period',
      response: customersView,
      statements: 5,
      read: customersReport,
    }),
    routeOf({
      name: 'traffic',
      summary: 'Visits of the storefronts in a period',
      response: trafficView,
      statements: 1,
      read: trafficReport,
    }),
    routeOf({
      name: 'conversion',
      summary: 'From visit to payment in a period',
      response: conversionView,
      statements: 5,
      read: conversionReport,
    }),
  ];
}
