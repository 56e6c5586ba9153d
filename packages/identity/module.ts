import { defineService, type Module } from '@tradepost/module';
import { fileReferences } from '@tradepost/storage';
import { identityDoctorChecks } from './doctor-checks.ts';
import { identityAudits } from './identity-audits.ts';
import { smsCodeSender } from './login/send-sms-code.ts';
import { sendTask } from './login/sms-codes.ts';
import { identityMenu } from './menu.ts';
import { messageDoctorCheck } from './messages/message-checks.ts';
import { messageMetrics } from './messages/message-metrics.ts';
import { dependentMessageSettings } from './messages/message-settings.ts';
import { messengerService, openMessenger } from './messages/messenger.ts';
import { loginCodeNotice, shopperNotices } from './messages/notices.ts';
import { messageJob, messageSweepTask, sendMessagesTask, sweepMessages } from './messages/send-messages.ts';
import { messageSenders } from './messages/sender.ts';
import { ownSenders } from './messages/senders/own-senders.ts';
import { identityRetention } from './retention.ts';
import { identityRoutes } from './routes.ts';
import { identityDemo } from './seed-demo-accounts.ts';
import { identitySettings } from './settings.ts';
import { shopperFiles } from './shoppers/file-references.ts';
import { profileSections } from './shoppers/profile-sections.ts';
import { shopperDeleted } from './shoppers/shopper-events.ts';
import { identityInChangeLog, identityPublishes, identityTables } from './tables.ts';
import { deleteUnneededSigningKeys } from './tokens/token-store.ts';
import { openTokens, type Tokens } from './tokens/tokens.ts';

/** Issues, verifies and revokes login tokens. */
export const tokensService = defineService<Tokens>('identity.tokens');

export const identityModule: Module = {
  name: 'identity',
  required: true,
  tables: identityTables,
  changeLog: identityInChangeLog,
  publishes: identityPublishes,
  entries: [
    fileReferences.add(shopperFiles),
    ...ownSenders.map(messageSenders.add),
    shopperNotices.add(loginCodeNotice),
  ],
  settings: identitySettings,
  menu: identityMenu,
  seedDemo: identityDemo,
  audits: identityAudits,
  events: [shopperDeleted],
  retention: identityRetention,
  doctorChecks: identityDoctorChecks,
  metrics: messageMetrics,
  declares(entries, known) {
    const parts = { senders: entries(messageSenders), notices: entries(shopperNotices) };
    return {
      settings: dependentMessageSettings(parts.senders, parts.notices, known(shopperNotices)),
      doctorChecks: [messageDoctorCheck(parts)],
    };
  },
  async open({ runtime, routes, entries }) {
    const { sql, config, log } = runtime;
    const messenger = openMessenger(runtime, { senders: entries(messageSenders), notices: entries(shopperNotices) });
    const tokens = await openTokens(runtime);
    return {
      provides: [tokensService.provide(tokens), messengerService.provide(messenger)],
      routes: () => identityRoutes({ runtime, tokens, messenger, sections: entries(profileSections) }, routes),
      tasks: {
        [sendTask]: smsCodeSender(runtime, messenger),
        [sendMessagesTask]: messageJob({ runtime, messenger }),
        [messageSweepTask]: (_payload, task) => sweepMessages(runtime, task.log),
        'identity.forget_signing_keys': async () => {
          const keys = await deleteUnneededSigningKeys(sql, config.tokenHours);
          if (keys > 0) log.info({ keys }, 'deleted the signing keys that no valid token needs');
        },
      },
      crons: [
        { task: 'identity.forget_signing_keys', match: '17 3 * * *' },
        { task: messageSweepTask, match: '*/5 * * * *' },
      ],
      close: () => tokens.close(),
    };
  },
};
