import { defineService, type Module } from '@tradepost/module';
import { staffCommand } from './commands/staff.ts';
import { tokenCommand } from './commands/token.ts';
import { identityDoctorChecks } from './doctor-checks.ts';
import { identityAudits } from './identity-audits.ts';
import { smsCodeSender } from './login/send-sms-code.ts';
import { sendTask } from './login/sms-codes.ts';
import { identityMenu } from './menu.ts';
import { identityRetention } from './retention.ts';
import { identityRoutes } from './routes.ts';
import { identityDemo } from './seed-demo-accounts.ts';
import { identitySettings } from './settings.ts';
import { identityPublishes, identityTables } from './tables.ts';
import { deleteUnneededSigningKeys } from './tokens/token-store.ts';
import { openTokens, type Tokens } from './tokens/tokens.ts';

/** Issues, verifies and revokes login tokens. */
export const tokensService = defineService<Tokens>('identity.tokens');

export const identityModule: Module = {
  name: 'identity',
  required: true,
  tables: identityTables,
  publishes: identityPublishes,
  settings: identitySettings,
  menu: identityMenu,
  seedDemo: identityDemo,
  audits: identityAudits,
  retention: identityRetention,
  commands: [staffCommand, tokenCommand],
  doctorChecks: identityDoctorChecks,
  async open({ runtime, routes }) {
    const { sql, config, log } = runtime;
    const tokens = await openTokens(runtime);
    return {
      provides: [tokensService.provide(tokens)],
      routes: () => identityRoutes(runtime, tokens, routes),
      tasks: {
        [sendTask]: smsCodeSender(runtime),
        'identity.forget_signing_keys': async () => {
          const keys = await deleteUnneededSigningKeys(sql, config.tokenHours);
          if (keys > 0) log.info({ keys }, 'deleted the signing keys that no valid token needs');
        },
      },
      crons: [{ task: 'identity.forget_signing_keys', match: '17 3 * * *' }],
      close: () => tokens.close(),
    };
  },
};
