import { type Locale, type Localized, labelOf, toWire } from '@tradepost/core';
import type { CaseLog, LogDetails } from './case.ts';
import { type CaseType, caseTypeLabels } from './case-moves.ts';

const texts = {
  apply: { en: 'Applied for ', 'zh-CN': '申请' },
  approved: { en: 'Approved', 'zh-CN': '审核通过' },
  rejected: { en: 'Rejected', 'zh-CN': '审核拒绝' },
  return_ship: { en: 'Return shipped', 'zh-CN': '买家已寄回' },
  receive: { en: 'Returned goods received', 'zh-CN': '已收到退货' },
  refund: { en: 'Refunded', 'zh-CN': '已退款' },
  refund_no: { en: 'refund number', 'zh-CN': '退款单号' },
  reship: { en: 'Replacement shipped', 'zh-CN': '已补发商品' },
  complete: { en: 'Case completed', 'zh-CN': '售后已完成' },
  close: { en: 'Case closed', 'zh-CN': '售后已关闭' },
} as const satisfies Record<string, Localized>;

/** Joins the parts that are not empty. */
const withParts = (text: string, parts: readonly (string | undefined)[], locale: Locale) => {
  const present = parts.filter((part) => part !== undefined && part !== '');
  if (present.length === 0) return text;
  return locale === 'en' ? `${text}: ${present.join(', ')}` : `${text}：${present.join('，')}`;
};

function refundText({ amount = 0, refund_no = '', reason }: LogDetails, locale: Locale): string {
  const sum = toWire(amount).toFixed(2);
  return withParts(texts.refund[locale], [sum, refund_no && `${texts.refund_no[locale]} ${refund_no}`, reason], locale);
}

/** The text of a log entry in the language of the reader. Remarks and reasons are shown as they were written. */
export function logContent({ action, details }: Pick<CaseLog, 'action' | 'details'>, type: CaseType, locale: Locale) {
  switch (action) {
    case 'apply':
      return withParts(texts.apply[locale] + labelOf(caseTypeLabels, type, locale), [details.reason], locale);
    case 'audit':
      return withParts((details.approve ? texts.approved : texts.rejected)[locale], [details.remark], locale);
    case 'return_ship':
    case 'reship':
      return withParts(texts[action][locale], [details.company, details.tracking_no, details.remark], locale);
    case 'refund':
      return refundText(details, locale);
    case 'close':
      return withParts(texts.close[locale], [details.reason], locale);
    default:
      return texts[action][locale];
  }
}
