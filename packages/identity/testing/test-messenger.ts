import { settingsIn } from '@tradepost/module';
import { type Log, openLog, openMetrics, type Settings } from '@tradepost/runtime';
import { dependentMessageSettings } from '../messages/message-settings.ts';
import { openMessenger } from '../messages/messenger.ts';
import { loginCodeNotice, type ShopperNotice } from '../messages/notices.ts';
import { ownSenders } from '../messages/senders/own-senders.ts';
import { identitySettings } from '../settings.ts';

export const shippedNotice: ShopperNotice = {
  name: 'order_shipped',
  about: 'an order was shipped',
  params: ['order_no', 'company'],
  texts: {
    en: 'Your order {order_no} was shipped with {company}.',
    'zh-CN': '您的订单 {order_no} 已由 {company} 发货。',
  },
};

type Options = { production?: boolean; log?: Log };

/** A messenger with these settings, the senders of this package and no database. */
export function openTestMessenger(
  settings: Readonly<Record<string, unknown>>,
  { production = false, log = openLog({ level: 'silent' }) }: Options = {},
) {
  const parts = { senders: ownSenders, notices: [loginCodeNotice, shippedNotice] };
  const definitions = [...identitySettings, ...dependentMessageSettings(parts.senders, parts.notices)];
  const runtime = {
    settings: settingsIn({ settings }, [], definitions) as Settings,
    config: { production } as never,
    log,
    now: () => new Date(),
    metrics: openMetrics(),
  };
  return { messenger: openMessenger(runtime, parts), metrics: runtime.metrics };
}
