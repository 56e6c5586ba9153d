import { type DoctorCheck, developmentArea, isLoopback } from '@tradepost/module';
import { developmentSenderCheck } from './messages/message-checks.ts';
import { smsProvider } from './messages/message-settings.ts';
import { wechatEndpoint } from './settings.ts';
import { selectIdentityFacts } from './shoppers/facts-store.ts';

const accounts: DoctorCheck = {
  area: { name: 'accounts', sort: 10 },
  async check({ sql, config }, { ok, note, error }) {
    const facts = await selectIdentityFacts(sql);
    const days = facts.signing_key_at && Math.floor((Date.now() - facts.signing_key_at.getTime()) / 86_400_000);
    if (days === null)
      note(
        'accounts/no-signing-key',
        'there is no signing key for tokens yet',
        'nothing: the first start creates a key',
      );
    else if (days > 365)
      note(
        'accounts/old-signing-key',
        `the key that signs tokens is ${days} days old`,
        'tradepost token rotate; tokens of the old key stay valid until they expire',
      );
    else ok(`the key that signs tokens is ${days} days old`);
    if (facts.demo_accounts > 0 && config.production)
      error(
        'accounts/demo-accounts',
        `${facts.demo_accounts} demo accounts with known passwords are in the database; only NODE_ENV=production refuses their logins`,
        'start with an empty database for a real shop',
      );
    if (facts.administrators === 0)
      note(
        'accounts/no-administrator',
        'there is no administrator',
        'tradepost staff create <username> --password-stdin',
      );
  },
};

const logins: DoctorCheck = {
  area: developmentArea,
  check({ settings }, { error }) {
    if (settings.get(smsProvider) === 'test')
      error(
        'development/test-sms',
        `${smsProvider.key} is test, which returns codes to every client: production refuses it, so no login code is sent`,
        `tradepost settings set ${smsProvider.key} webhook, aliyun or tencent; or off, for a shop without login by phone`,
      );
    const wechat = new URL(settings.get(wechatEndpoint));
    if (wechat.protocol !== 'https:' || isLoopback(wechat.hostname))
      error(
        'development/wechat-endpoint',
        `${wechatEndpoint.key} is ${wechat.origin}, which is not WeChat: that server decides who is logged in`,
        `tradepost settings unset ${wechatEndpoint.key}`,
      );
  },
};

export const identityDoctorChecks: readonly DoctorCheck[] = [accounts, logins, developmentSenderCheck];
