import { accountName } from '@tradepost/runtime';

/** Who runs this command: the user who called `sudo`, otherwise the account of the process. */
export const operatorName = (): string => process.env.SUDO_USER || accountName();

/** The author of a change by a command, in the histories of settings and of the gateway: `cli (maria)`. */
export const commandAuthor = (): string => `cli (${operatorName()})`;
