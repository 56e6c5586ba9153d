import type { TestData } from '@tradepost/testing/test-data';
import { afterSaleData } from './after-sale-data.ts';
import { carrierData } from './carrier-data.ts';
import { shipmentData } from './shipment-data.ts';

/** The test data of each folder. The rows of a later one may use those of an earlier one. */
const parts: readonly TestData[] = [shipmentData, carrierData, afterSaleData];

export const testData: TestData = {
  rows: parts.map(({ rows = '' }) => rows).join('\n'),
  auditCases: parts.flatMap(({ auditCases = [] }) => auditCases),
  makers: Object.assign({}, ...parts.map(({ makers }) => makers)),
};
