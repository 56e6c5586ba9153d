import { smsProvider, wechatEndpoint } from '@tradepost/identity';
import { instantPay, payProvider, sandboxCashierUrl, sandboxRefundUrl, sandboxSecret } from '@tradepost/orders';
import { demoShop, type LoadedConfig, type Setting } from '@tradepost/runtime';
import { type Finding, findingsOf, isLoopback } from './finding.ts';
import { settingsIn } from './settings-in.ts';

type Found = ReturnType<typeof findingsOf>;
type Settings = ReturnType<typeof settingsIn>;

/** Secrets that the documentation and the examples show: everybody knows them. */
const publishedSecrets = new Set(['demo-secret', 'demo-secret-of-the-shop', 'try-me']);

function checkPayment(settings: Settings, { error, warning }: Found): void {
  const instant = settings.get(instantPay);
  if (instant === true)
    error(
      `${instantPay.key} is true: every shopper can mark an order paid without money`,
      `tradepost settings unset ${instantPay.key}`,
    );
  if (settings.get(demoShop) && instant === null)
    error(
      'the demo seed filled this database: without NODE_ENV=production its shoppers pay without money',
      `begin with an empty database, or tradepost settings set ${instantPay.key} false`,
    );
  if (settings.get(payProvider) === 'instant')
    error(`${payProvider.key} is instant, which moves no money`, `tradepost settings unset ${payProvider.key}`);
  if (settings.get(sandboxSecret) === '') {
    warning(
      `no payment provider is set up: ${sandboxSecret.key} is empty, so nobody can pay`,
      'connect a gateway: packages/orders/README.md says how',
    );
    return;
  }
  for (const { key } of [sandboxCashierUrl, sandboxRefundUrl].filter((each) => settings.get(each) === ''))
    error(
      `${sandboxSecret.key} is set and ${key} is not: the sandbox is a development provider, no gateway stands behind it`,
      `tradepost settings set ${key} <url> where one does, else tradepost settings unset ${sandboxSecret.key}`,
    );
}

/** What eases development and gives a shop away: each is an error where the shop is in production. */
export function checkDevelopment(
  { config, sources }: LoadedConfig,
  stored: readonly { key: string; value: unknown }[],
  definitions: readonly Setting[],
): Finding[] {
  if (!config.production) return [];
  const found = findingsOf('development');
  const { findings, ok, error } = found;
  const settings = settingsIn(config, stored);
  checkPayment(settings, found);
  if (config.seed === 'demo' && sources.seed !== 'default')
    error('demo data is asked for (TRADEPOST_SEED): production refuses it', 'set TRADEPOST_SEED=none');
  if (settings.get(smsProvider) === 'test')
    error(
      `${smsProvider.key} is test, which answers codes to whoever asks: production refuses it, so nobody gets a login code`,
      `tradepost settings set ${smsProvider.key} webhook, or off for a shop without login by phone`,
    );
  const wechat = new URL(settings.get(wechatEndpoint));
  if (wechat.protocol !== 'https:' || isLoopback(wechat.hostname))
    error(
      `${wechatEndpoint.key} is ${wechat.origin}, a stand-in for WeChat: it decides who is logged in`,
      `tradepost settings unset ${wechatEndpoint.key}`,
    );
  for (const definition of definitions.filter((each) => each.secret)) {
    const value = settings.get(definition);
    if (typeof value === 'string' && publishedSecrets.has(value))
      error(
        `${definition.key} is a secret of the documentation, which everybody knows`,
        `tradepost settings set ${definition.key}, and the same at the other side`,
      );
  }
  if (!findings.some(({ level }) => level === 'error')) ok('no convenience of development is on');
  return findings;
}
