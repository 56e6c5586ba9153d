import { lineText } from '@tradepost/http';
import { setting } from '@tradepost/runtime';
import { z } from 'zod';

export const deliveryModes = ['express', 'local', 'both'] as const;

export const deliveryMode = setting(
  'delivery_router.delivery_mode',
  z.enum(deliveryModes),
  'express',
  'how orders are delivered: express by a carrier, local by a rider, or both; the other type is refused when an order is shipped',
);
export const defaultRiderName = setting(
  'delivery_local.default_rider_name',
  lineText(64),
  '',
  'name of the rider of a local delivery that names none',
);
export const defaultRiderPhone = setting(
  'delivery_local.default_rider_phone',
  lineText(32),
  '',
  'phone number of the rider of a local delivery that names none',
);

export const shipmentSettings = [deliveryMode, defaultRiderName, defaultRiderPhone] as const;
