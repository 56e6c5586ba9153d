import { type Locale, type Localized, labelOf } from '@tradepost/core';
import { defineInboxTemplate, type InboxTemplate, type InboxTexts } from '@tradepost/module';
import { type CaseFacts, eventOfMove } from './after-sales/cases/case-events.ts';
import { companyLabels } from './carriers/companies.ts';
import { type ParcelFacts, shippedEventOf } from './fulfilment-events.ts';

const localDelivery: Localized = { en: 'local delivery', 'zh-CN': '同城配送' };

/** The carrier and the tracking number, or the local delivery. */
const parcelText = ({ delivery_type, company, tracking_no }: ParcelFacts, locale: Locale): string =>
  delivery_type === 'local' ? localDelivery[locale] : `${labelOf(companyLabels, company, locale)} ${tracking_no}`;

const parcelTemplate = (texts: InboxTexts<ParcelFacts>): InboxTemplate =>
  defineInboxTemplate<ParcelFacts, 'order_no' | 'parcel'>({
    ...texts,
    group: 'order',
    params: ['order_no', 'parcel'],
    receiver: ({ user_id }) => user_id,
    values: (facts, locale) => ({ order_no: facts.order_no, parcel: parcelText(facts, locale) }),
    data: ({ order_id, order_no, shipment_id }) => ({ order_id, order_no, shipment_id }),
  });

export const shipmentInboxTemplates: readonly InboxTemplate[] = [
  parcelTemplate({
    name: 'order_shipped',
    about: 'an order was shipped',
    event: shippedEventOf.initial,
    title: { en: 'Order shipped', 'zh-CN': '订单已发货' },
    content: {
      en: 'Your order {order_no} is on its way: {parcel}.',
      'zh-CN': '您的订单 {order_no} 已发货：{parcel}。',
    },
  }),
  parcelTemplate({
    name: 'order_reshipped',
    about: 'the goods of an exchange were shipped',
    event: shippedEventOf.reship,
    title: { en: 'Exchange shipped', 'zh-CN': '换货已发出' },
    content: {
      en: 'The exchange for your order {order_no} is on its way: {parcel}.',
      'zh-CN': '您的订单 {order_no} 的换货已发出：{parcel}。',
    },
  }),
];

const caseTemplate = (texts: InboxTexts<CaseFacts>): InboxTemplate =>
  defineInboxTemplate<CaseFacts, 'case_no' | 'order_no'>({
    ...texts,
    group: 'order',
    params: ['case_no', 'order_no'],
    receiver: ({ user_id }) => user_id,
    values: ({ case_no, order_no }) => ({ case_no, order_no }),
    data: ({ case_id, case_no, order_id, order_no }) => ({ case_id, case_no, order_id, order_no }),
  });

/** A refund and a replacement have messages of their own: order_refunded and order_reshipped. Acts of the shopper write none. */
export const caseInboxTemplates: readonly InboxTemplate[] = [
  caseTemplate({
    name: 'after_sale_approved',
    about: 'the merchant approved an after-sale case; the shopper may send the goods back',
    event: eventOfMove.approve,
    title: { en: 'After-sale approved', 'zh-CN': '售后审核通过' },
    content: {
      en: 'Your after-sale {case_no} of order {order_no} was approved. Please send the goods back.',
      'zh-CN': '您订单 {order_no} 的售后 {case_no} 已通过审核，请寄回商品。',
    },
  }),
  caseTemplate({
    name: 'after_sale_rejected',
    about: 'the merchant rejected an after-sale case',
    event: eventOfMove.reject,
    title: { en: 'After-sale rejected', 'zh-CN': '售后未通过审核' },
    content: {
      en: 'Your after-sale {case_no} of order {order_no} was rejected.',
      'zh-CN': '您订单 {order_no} 的售后 {case_no} 未通过审核。',
    },
  }),
  caseTemplate({
    name: 'after_sale_received',
    about: 'the merchant received the goods of an after-sale case',
    event: eventOfMove.receive,
    title: { en: 'Returned goods received', 'zh-CN': '已收到退货' },
    content: {
      en: 'We have received the goods of your after-sale {case_no}.',
      'zh-CN': '您的售后 {case_no} 的退货已签收。',
    },
  }),
  caseTemplate({
    name: 'after_sale_closed',
    about: 'the merchant closed an after-sale case',
    event: eventOfMove.close,
    applies: ({ operator }) => operator !== 'user',
    title: { en: 'After-sale closed', 'zh-CN': '售后已关闭' },
    content: {
      en: 'Your after-sale {case_no} of order {order_no} was closed.',
      'zh-CN': '您订单 {order_no} 的售后 {case_no} 已关闭。',
    },
  }),
];
