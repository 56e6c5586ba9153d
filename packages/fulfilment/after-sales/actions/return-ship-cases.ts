import type { Transaction } from '@tradepost/postgres';
import { insertShipments } from '../../shipments/shipment-store.ts';
import { afterSaleErrors } from '../errors.ts';
import { type CaseRequest, type LockedCase, moveCases } from './move-cases.ts';

/** A parcel that the buyer sends back. `company` may be empty: the buyer may not know the code of the carrier. */
export type ReturnParcel = CaseRequest & {
  readonly company: string;
  readonly tracking_no: string;
  readonly remark: string;
};

/** Records the parcels of buyers: one inbound shipment per case. */
export async function returnShipCases(
  tx: Transaction,
  parcels: readonly ReturnParcel[],
  now: Date,
): Promise<(LockedCase | Error)[]> {
  return moveCases(tx, parcels, {
    move: 'return_ship',
    now,
    decide(_found, { company, tracking_no, remark }) {
      if (tracking_no === '') return afterSaleErrors.tracking_no_required();
      return { details: { company: company.toUpperCase(), tracking_no, remark } };
    },
    async prepare(moving) {
      const rows = moving.map(({ found, request }) => ({
        order_id: found.order_id,
        after_sale_case_id: found.id,
        delivery_type: 'express' as const,
        direction: 'inbound' as const,
        biz_type: 'return' as const,
        company: request.company.toUpperCase(),
        tracking_no: request.tracking_no,
        rider_name: '',
        rider_phone: '',
        logistics_status: 'shipped' as const,
        remark: request.remark,
        created_by_type: 'user' as const,
        created_by_id: request.operator.id,
      }));
      await insertShipments(tx, rows, now);
      return moving.map(() => true);
    },
  });
}
