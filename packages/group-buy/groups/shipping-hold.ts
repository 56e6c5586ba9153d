import type { ShippingHold } from '@tradepost/orders';
import { groupBuyErrors } from '../errors.ts';
import { selectHeldOrderIds } from './group-store.ts';

/** Holds the orders of groups that are open, and those of failed groups until they are cancelled. */
export const groupHold: ShippingHold = { refusal: groupBuyErrors.order_held, held: selectHeldOrderIds };
