import type { Module } from '@tradepost/module';
import { afterSalePart } from './after-sales/after-sale-part.ts';
import { carrierPart, declareCarriers } from './carriers/carrier-part.ts';
import { joinParts } from './part.ts';
import { shipmentPart } from './shipments/shipment-part.ts';

export const fulfilmentModule: Module = {
  name: 'fulfilment',
  needs: ['orders'],
  declares: declareCarriers,
  ...joinParts([shipmentPart, carrierPart, afterSalePart]),
};
