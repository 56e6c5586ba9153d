import type { Labels } from '@tradepost/core';

/** The states of an after-sale case. No case is ever in `warehouse_received`: receiving goes straight to the next state. */
export const caseStatuses = [
  'applied',
  'approved_wait_user_return',
  'user_returning',
  'warehouse_received',
  'refund_pending',
  'refunded',
  'reship_pending',
  'reshipped',
  'completed',
  'rejected',
  'closed',
] as const;
export type CaseStatus = (typeof caseStatuses)[number];

export const caseTypes = ['return', 'exchange'] as const;
export type CaseType = (typeof caseTypes)[number];

/** A case in one of these states is over. In every other state it is open. */
export const endedStatuses = ['completed', 'rejected', 'closed'] as const satisfies readonly CaseStatus[];
export const isEnded = (status: CaseStatus) => (endedStatuses as readonly CaseStatus[]).includes(status);

export const caseActions = [
  'apply',
  'audit',
  'return_ship',
  'receive',
  'refund',
  'reship',
  'complete',
  'close',
] as const;
export type CaseAction = (typeof caseActions)[number];

type Move = {
  /** The action in the log. */
  readonly action: CaseAction;
  readonly from: readonly CaseStatus[];
  readonly to: Readonly<Record<CaseType, CaseStatus>>;
};
const both = (to: CaseStatus) => ({ return: to, exchange: to });

/**
 * The transitions of a case. Each is an update guarded by `from`.
 *
 *   return:   applied -> approved_wait_user_return -> user_returning -> refund_pending -> refunded  -> completed
 *   exchange: applied -> approved_wait_user_return -> user_returning -> reship_pending -> reshipped -> completed
 */
export const caseMoves = {
  approve: { action: 'audit', from: ['applied'], to: both('approved_wait_user_return') },
  reject: { action: 'audit', from: ['applied'], to: both('rejected') },
  return_ship: { action: 'return_ship', from: ['approved_wait_user_return'], to: both('user_returning') },
  receive: {
    action: 'receive',
    from: ['user_returning'],
    to: { return: 'refund_pending', exchange: 'reship_pending' },
  },
  refund: { action: 'refund', from: ['refund_pending'], to: both('refunded') },
  reship: { action: 'reship', from: ['reship_pending'], to: both('reshipped') },
  complete: { action: 'complete', from: ['refunded', 'reshipped'], to: both('completed') },
  close: {
    action: 'close',
    from: [
      'applied',
      'approved_wait_user_return',
      'user_returning',
      'warehouse_received',
      'refund_pending',
      'reship_pending',
    ],
    to: both('closed'),
  },
} as const satisfies Record<string, Move>;
export type MoveName = keyof typeof caseMoves;
/** The table with its general type. */
export const moveOf = (name: MoveName): Move => caseMoves[name];

export const caseTypeLabels: Labels = {
  return: { en: 'Return', 'zh-CN': '退货退款' },
  exchange: { en: 'Exchange', 'zh-CN': '换货' },
};

export const caseStatusLabels: Labels = {
  applied: { en: 'Applied', 'zh-CN': '已申请' },
  approved_wait_user_return: { en: 'Awaiting Return', 'zh-CN': '待买家退货' },
  user_returning: { en: 'Returning', 'zh-CN': '退货中' },
  warehouse_received: { en: 'Warehouse Received', 'zh-CN': '仓库已收货' },
  refund_pending: { en: 'Refund Pending', 'zh-CN': '待退款' },
  refunded: { en: 'Refunded', 'zh-CN': '已退款' },
  reship_pending: { en: 'Reship Pending', 'zh-CN': '待补发' },
  reshipped: { en: 'Reshipped', 'zh-CN': '已补发' },
  completed: { en: 'Completed', 'zh-CN': '已完成' },
  rejected: { en: 'Rejected', 'zh-CN': '已拒绝' },
  closed: { en: 'Closed', 'zh-CN': '已关闭' },
};

export const auditStatusLabels: Labels = {
  pending: { en: 'Pending', 'zh-CN': '待审核' },
  approved: { en: 'Approved', 'zh-CN': '已通过' },
  rejected: { en: 'Rejected', 'zh-CN': '已拒绝' },
};

export const caseActionLabels: Labels = {
  apply: { en: 'Applied', 'zh-CN': '申请售后' },
  audit: { en: 'Reviewed', 'zh-CN': '审核' },
  return_ship: { en: 'Return Shipped', 'zh-CN': '买家寄回' },
  receive: { en: 'Received', 'zh-CN': '确认收货' },
  refund: { en: 'Refunded', 'zh-CN': '退款' },
  reship: { en: 'Reshipped', 'zh-CN': '补发' },
  complete: { en: 'Completed', 'zh-CN': '完成' },
  close: { en: 'Closed', 'zh-CN': '关闭' },
};
