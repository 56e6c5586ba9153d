import { fill, type Localized } from '@tradepost/core';
import { defineRegistry } from '@tradepost/module';

/** A kind of message to a shopper. Modules add entries to `shopperNotices`. */
export type ShopperNotice = {
  /** The name in settings, rows and metrics: `order_shipped`. */
  readonly name: string;
  /** What it reports, for operators. */
  readonly about: string;
  /** The names of its values. SMS services with numbered values get them in this order. */
  readonly params: readonly string[];
  /** The text with `{param}` for each value. SMS services use their own template instead. */
  readonly texts: Localized;
  /** True for messages that are requested one by one. They are sent without being listed in notices.enabled. */
  readonly always?: boolean;
};

export const shopperNotices = defineRegistry<ShopperNotice>('identity.shopper_notices', { isStatic: true });

export const loginCodeNotice: ShopperNotice = {
  name: 'login_code',
  about: 'the code of a login by phone',
  params: ['code'],
  texts: {
    en: 'Your login code is {code}. It is valid for 5 minutes.',
    'zh-CN': '您的登录验证码是 {code}，5 分钟内有效。',
  },
  always: true,
};

/** The longest value of a message. SMS services refuse longer ones. */
const maxParamLength = 100;

/** A value as it can be stored and sent: one line, well-formed, at most `maxParamLength` characters. */
export const paramText = (value: string): string =>
  [...value.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()].slice(0, maxParamLength).join('').toWellFormed();

/** The text of a message in both languages. */
export const noticeText = ({ texts }: ShopperNotice, params: Readonly<Record<string, string>>): string =>
  `${fill(texts['zh-CN'], params)} ${fill(texts.en, params)}`;
