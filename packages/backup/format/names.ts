/** The name of a backup in a folder or a bucket: the id of its database, and the time in UTC. */
export const backupName = (source: string, at: Date): string =>
  `tradepost-${source}-${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

const whole = /^tradepost-([0-9a-f]{8})-(\d{8}T\d{6}Z)$/;

export const isBackupName = (text: string): boolean => whole.test(text);

/** The id of the database in a name. Null for other names. */
export const sourceIn = (name: string): string | null => whole.exec(name)?.[1] ?? null;
