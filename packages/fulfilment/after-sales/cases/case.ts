import type { CaseAction, CaseStatus, CaseType } from './case-moves.ts';

type CaseItem = { id: number; case_id: number; order_item_id: number; qty: number };

/** A row of fulfilment.after_sale_cases with its lines. Amounts are in minor units, images are addresses as stored. */
export type AfterSaleCase = {
  id: number;
  case_no: string;
  order_id: number;
  user_id: number;
  merchant_id: number;
  order_status_snapshot: number;
  case_type: CaseType;
  status: CaseStatus;
  reason: string;
  apply_content: string;
  apply_images: string[];
  audit_status: 'pending' | 'approved' | 'rejected';
  audit_remark: string;
  refund_amount: number;
  refund_no: string;
  close_reason: string;
  completed_at: Date | null;
  created_at: Date;
  updated_at: Date;
  items: CaseItem[];
};

/** Who acted on a case. */
export type Operator = { readonly type: 'user' | 'admin' | 'system'; readonly id: number };

/** The values of the text of a log entry. Amounts are in minor units. */
export type LogDetails = {
  readonly approve?: boolean;
  readonly remark?: string;
  readonly reason?: string;
  readonly company?: string;
  readonly tracking_no?: string;
  readonly amount?: number;
  readonly refund_no?: string;
};

export type CaseLog = {
  id: number;
  case_id: number;
  from_status: CaseStatus | '';
  to_status: CaseStatus;
  action: CaseAction;
  operator_type: Operator['type'];
  operator_id: number;
  details: LogDetails;
  created_at: Date;
};
