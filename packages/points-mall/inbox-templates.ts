import { defineInboxTemplate, type InboxTemplate, type InboxTexts } from '@tradepost/module';
import { type ExchangeFacts, eventOfMove } from './mall-events.ts';

type Params = 'exchange_no' | 'product' | 'tracking' | 'points' | 'reason';

const exchangeTemplate = (texts: InboxTexts<ExchangeFacts>): InboxTemplate =>
  defineInboxTemplate<ExchangeFacts, Params>({
    ...texts,
    group: 'order',
    params: ['exchange_no', 'product', 'tracking', 'points', 'reason'],
    receiver: ({ user_id }) => user_id,
    values: (facts, locale) => ({
      exchange_no: facts.exchange_no,
      product: facts.product_title,
      points: String(facts.points_cost),
      // These are optional, so they bring their own punctuation.
      tracking: facts.tracking_no && `${locale === 'en' ? ', tracking number ' : '，运单号 '}${facts.tracking_no}`,
      reason: facts.reason && `${locale === 'en' ? ' Reason: ' : '原因：'}${facts.reason}`,
    }),
    data: ({ exchange_id, exchange_no, product_id }) => ({ exchange_id, exchange_no, product_id }),
  });

/** Acts of the shopper write no message: the exchange itself, and its confirmation. */
export const mallInboxTemplates: readonly InboxTemplate[] = [
  exchangeTemplate({
    name: 'points_exchange_shipped',
    about: 'the product of an exchange of points was shipped',
    event: eventOfMove.ship,
    title: { en: 'Exchange shipped', 'zh-CN': '积分兑换已发货' },
    content: {
      en: 'Your exchange {exchange_no} ({product}) is on its way{tracking}.',
      'zh-CN': '您兑换的“{product}”（{exchange_no}）已发货{tracking}。',
    },
  }),
  exchangeTemplate({
    name: 'points_exchange_canceled',
    about: 'the merchant cancelled an exchange of points',
    event: eventOfMove.cancel,
    title: { en: 'Exchange cancelled', 'zh-CN': '积分兑换已取消' },
    content: {
      en: 'Your exchange {exchange_no} ({product}) was cancelled; {points} points are back on your account.{reason}',
      'zh-CN': '您兑换的“{product}”（{exchange_no}）已取消，{points} 积分已退回。{reason}',
    },
  }),
];
