import { defineRoute, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { deliveryMode, deliveryModes } from './settings.ts';

const modeView = z.object({
  mode: z.enum(deliveryModes).meta({ description: 'express: by a carrier; local: by a rider of the shop; or both' }),
});

/** The ways in which the shop delivers, for both kinds of clients. */
export function deliveryRoutes({ settings }: Pick<Runtime, 'settings'>): Route[] {
  const mode = () => ({ mode: settings.get(deliveryMode) });
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/delivery/mode',
      auth: 'public',
      tag: 'Orders',
      summary: 'How this shop delivers',
      response: modeView,
      statements: 0,
      handle: mode,
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/api/delivery/mode',
      auth: 'staff',
      tag: 'Orders (admin)',
      summary: 'How this shop delivers: the ship form offers these delivery types',
      response: modeView,
      statements: 0,
      handle: mode,
    }),
  ];
}
