import { type DashboardCard, inboxGroups } from '@tradepost/module';
import { countUnreadByStaff } from './back-office/admin-message-store.ts';

/** The messages that staff or the command line sent and that are not opened in the back office. */
export const unreadMessages: DashboardCard = {
  field: 'unread_message',
  permission: 'message:view',
  async count(sql) {
    const counts = await countUnreadByStaff(sql, inboxGroups);
    return counts.reduce((sum, { unread }) => sum + unread, 0);
  },
};
