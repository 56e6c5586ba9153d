import type { Labels, Localized } from '@tradepost/core';

/** A carrier company. A driver has the codes of companies at its service. */
type Company = Localized & {
  readonly code: string;
  /** The carrier answers only with the phone number of the sender or the receiver. */
  readonly asksPhone?: true;
};

/**
 * The carrier companies that can be synced. A shipment may have another code: it is stored as it is, and a sync of it is
 * refused.
 */
export const companies: readonly Company[] = [
  { code: 'SF', en: 'SF Express', 'zh-CN': '顺丰速运', asksPhone: true },
  { code: 'ZTO', en: 'ZTO Express', 'zh-CN': '中通快递' },
  { code: 'YTO', en: 'YTO Express', 'zh-CN': '圆通速递' },
  { code: 'STO', en: 'STO Express', 'zh-CN': '申通快递' },
  { code: 'YD', en: 'Yunda Express', 'zh-CN': '韵达快递' },
  { code: 'JD', en: 'JD Logistics', 'zh-CN': '京东物流' },
  { code: 'EMS', en: 'China Post EMS', 'zh-CN': '邮政 EMS' },
  { code: 'DBL', en: 'Deppon Express', 'zh-CN': '德邦快递' },
  { code: 'JT', en: 'J&T Express', 'zh-CN': '极兔速递' },
];

/** The names of the companies by code. `labelOf` shows another code as it is, in both languages. */
export const companyLabels: Labels = Object.fromEntries(companies.map((company) => [company.code, company]));

const byCode = new Map(companies.map((company) => [company.code, company]));

/** The company of a code; undefined for other codes. */
export const companyOf = (code: string): Company | undefined => byCode.get(code);

export const companyCodes: readonly string[] = [...byCode.keys()];
