import { type DoctorArea, type DoctorCheck, developmentArea, isLoopback, isNotEncrypted } from '@tradepost/module';
import { enabledNotices, smsEndpoint, smsProvider, smsTemplates, smsWebhookUrl } from './message-settings.ts';
import { countFailedMessages } from './message-store.ts';
import { type MessageParts, notReadyFor, notReadyText } from './messenger.ts';
import { loginCodeNotice } from './notices.ts';

const area: DoctorArea = { name: 'messages', sort: 45 };
const dayMs = 24 * 3_600_000;

/** Notices that an operator has switched on and that no sender can send, and messages that have failed. */
export const messageDoctorCheck = (parts: MessageParts): DoctorCheck => ({
  name: 'messages',
  area,
  async check(facts, { ok, note, warning, error }) {
    const { sql, settings } = facts;
    const enabled = settings.get(enabledNotices);
    const notReady = (name: string) => notReadyFor(parts, facts, 'sms', name);
    const provider = settings.get(smsProvider);
    const noCodes = ['off', 'test'].includes(provider) ? null : notReady(loginCodeNotice.name);
    if (noCodes)
      error(
        'messages/login-codes-not-sent',
        `${smsProvider.key} is ${provider}, and login codes can not be sent: ${notReadyText('sms', noCodes)}`,
        'tradepost settings set, for each of these settings',
      );
    const webhook = settings.get(smsWebhookUrl);
    if (provider === 'webhook' && webhook !== '' && isNotEncrypted(webhook))
      warning(
        'messages/webhook-not-encrypted',
        `${smsWebhookUrl.key} begins with http: the network reads the login codes that are sent to ${new URL(webhook).host}`,
        `tradepost settings set ${smsWebhookUrl.key}, with an https address`,
      );
    const isKnown = (name: string) => parts.notices.some((notice) => notice.name === name);
    const running = enabled.filter(isKnown);
    const off = enabled.filter((name) => !isKnown(name));
    if (off.length > 0)
      note(
        'messages/notice-of-module-off',
        `${enabledNotices.key} has notices of modules that are switched off, which are not sent: ${off.join(', ')}`,
        `nothing; they are sent when their modules run again`,
      );
    for (const name of running) {
      const reason = notReady(name);
      if (reason)
        warning(
          'messages/notice-not-sent',
          `the notice ${name} is switched on and is not sent: ${notReadyText('sms', reason)}`,
          'tradepost settings set, for each of these settings; or remove it from notices.enabled',
        );
    }
    const unknown = Object.keys(settings.get(smsTemplates)).filter((name) => !isKnown(name));
    if (unknown.length > 0)
      note(
        'messages/unknown-template',
        `${smsTemplates.key} has templates of unknown notices: ${unknown.join(', ')}`,
        `nothing, if their modules are switched off; else tradepost settings set ${smsTemplates.key}`,
      );
    const failed = await countFailedMessages(sql, new Date(Date.now() - dayMs));
    if (failed > 0)
      warning(
        'messages/failed',
        `${failed} messages to shoppers failed in the last 24 hours`,
        'tradepost messages list --failed, then tradepost messages retry',
      );
    else if (running.length > 0)
      ok(`${running.length} notices are switched on; no message failed in the last 24 hours`);
  },
});

/** Options that are convenient in development. The provider test is checked with the logins. */
export const developmentSenderCheck: DoctorCheck = {
  area: developmentArea,
  check({ settings }, { error }) {
    if (settings.get(smsProvider) === 'log')
      error(
        'development/logged-sms',
        `${smsProvider.key} is log, which production refuses: no login code and no notice is sent`,
        `tradepost settings set ${smsProvider.key} webhook, aliyun or tencent; or off`,
      );
    const endpoint = settings.get(smsEndpoint);
    if (endpoint === '') return;
    const { protocol, hostname, origin } = new URL(endpoint);
    if (protocol !== 'https:' || isLoopback(hostname))
      error(
        'development/sms-endpoint',
        `${smsEndpoint.key} is ${origin}, which is not the SMS service: that server gets all login codes`,
        `tradepost settings unset ${smsEndpoint.key}`,
      );
  },
};
