export const changeLogTables: readonly string[] = ['change_log.changes', 'change_log.watched_tables'];

/** `watch` is called by migrations. The others are used by the triggers that it creates. */
export const changeLogPublishes: readonly string[] = [
  'change_log.watch',
  'change_log.record_change',
  'change_log.recorded',
];
