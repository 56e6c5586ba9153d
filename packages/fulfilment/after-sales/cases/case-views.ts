import { isoInZone, type Locale, labelOf, toWire } from '@tradepost/core';
import { fileUrls } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { operatorLabels, shipmentView } from '../../shipments/shipment.ts';
import { selectCaseShipments } from '../../shipments/shipment-store.ts';
import type { AfterSaleCase, CaseLog } from './case.ts';
import { auditStatusLabels, caseActionLabels, caseStatusLabels, caseTypeLabels } from './case-moves.ts';
import { selectLogs } from './case-store.ts';
import { logContent } from './log-texts.ts';

export type ViewRequest = { request: Request; locale: Locale };

/** The times and file addresses of answers to this request. */
export function formats({ settings, config }: Pick<Runtime, 'settings' | 'config'>, request: Request) {
  const zone = settings.get(timeZone);
  return { zone, iso: (at: Date) => isoInZone(at, zone), absolute: fileUrls(request, config).absolute };
}

function logView({ details, ...log }: CaseLog, of: AfterSaleCase, iso: (at: Date) => string, locale: Locale) {
  return {
    ...log,
    from_status_label: log.from_status === '' ? '' : labelOf(caseStatusLabels, log.from_status, locale),
    to_status_label: labelOf(caseStatusLabels, log.to_status, locale),
    action_label: labelOf(caseActionLabels, log.action, locale),
    operator_type_label: labelOf(operatorLabels, log.operator_type, locale),
    content: logContent({ action: log.action, details }, of.case_type, locale),
    created_at: iso(log.created_at),
  };
}

/** The views of these cases with their logs and shipments: two statements for any number of cases. */
export async function caseViews(
  runtime: Pick<Runtime, 'sql' | 'settings' | 'config'>,
  cases: readonly AfterSaleCase[],
  { request, locale }: ViewRequest,
) {
  if (cases.length === 0) return [];
  const ids = cases.map((row) => row.id);
  const [logs, shipments] = await Promise.all([selectLogs(runtime.sql, ids), selectCaseShipments(runtime.sql, ids)]);
  const logsOf = Map.groupBy(logs, (log) => log.case_id);
  const shipmentsOf = Map.groupBy(shipments, (shipment) => shipment.after_sale_case_id);
  const { zone, iso, absolute } = formats(runtime, request);
  return cases.map(({ items, ...row }) => ({
    ...row,
    case_type_label: labelOf(caseTypeLabels, row.case_type, locale),
    status_label: labelOf(caseStatusLabels, row.status, locale),
    audit_status_label: labelOf(auditStatusLabels, row.audit_status, locale),
    apply_images: row.apply_images.map(absolute),
    refund_amount: toWire(row.refund_amount),
    completed_at: row.completed_at ? iso(row.completed_at) : null,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    items,
    logs: (logsOf.get(row.id) ?? []).map((log) => logView(log, { ...row, items }, iso, locale)),
    shipments: (shipmentsOf.get(row.id) ?? []).map((shipment) => shipmentView(shipment, zone, locale)),
  }));
}
