import type { RegisterCommand } from '@tradepost/module';
import { addDeliveries } from './deliveries.ts';
import { addEndpoints } from './endpoints.ts';

export const register: RegisterCommand = (group, context) => {
  addEndpoints(group, context);
  addDeliveries(group, context);
};
