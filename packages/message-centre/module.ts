import { dashboardCards, eventReaders, inboxTemplates, type Module } from '@tradepost/module';
import { adminMessageRoutes } from './back-office/admin-message-routes.ts';
import { unreadMessages } from './dashboard-cards.ts';
import { messageMenu } from './menu.ts';
import { messageAudits } from './message-audits.ts';
import { deletionReader } from './messages/delete-inboxes.ts';
import { messageCentreRetention } from './retention.ts';
import { messageDemo } from './seed-demo-messages.ts';
import { messageCentreSettings } from './settings.ts';
import { inboxRoutes } from './storefront/inbox-routes.ts';
import { messageCentreInChangeLog, messageCentreTables } from './tables.ts';
import { openMessageTexts } from './templates/message-texts.ts';
import { templateReader } from './templates/read-events.ts';
import { templateSettings } from './templates/template-settings.ts';

export const messageCentreModule: Module = {
  name: 'message-centre',
  needs: ['identity'],
  tables: messageCentreTables,
  changeLog: messageCentreInChangeLog,
  settings: messageCentreSettings,
  menu: messageMenu,
  seedDemo: messageDemo,
  audits: messageAudits,
  retention: messageCentreRetention,
  entries: [dashboardCards.add(unreadMessages)],
  declares: (entries, known) => ({ settings: templateSettings(entries(inboxTemplates), known(inboxTemplates)) }),
  open({ runtime, entries }) {
    const templates = entries(inboxTemplates);
    const texts = openMessageTexts(runtime.settings, templates);
    return {
      contributions: [eventReaders.add(deletionReader), eventReaders.add(templateReader(runtime, templates))],
      routes: () => [...inboxRoutes(runtime, texts), ...adminMessageRoutes(runtime, texts)],
    };
  },
};
