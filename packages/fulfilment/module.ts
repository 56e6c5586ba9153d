import type { Module } from '@tradepost/module';
import { joinParts } from './part.ts';
import { shipmentPart } from './shipments/shipment-part.ts';

export const fulfilmentModule: Module = {
  name: 'fulfilment',
  needs: ['orders'],
  ...joinParts([shipmentPart]),
};
