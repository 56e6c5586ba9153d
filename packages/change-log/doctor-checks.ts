import type { DoctorCheck } from '@tradepost/module';
import { selectUnwatchedTables } from './change-store.ts';

const triggers: DoctorCheck = {
  area: { name: 'change log', sort: 26 },
  async check({ sql }, { ok, error }) {
    const tables = await selectUnwatchedTables(sql);
    if (tables.length === 0) return ok('all watched tables have their trigger');
    error(
      'change-log/not-recorded',
      `changes of ${tables.join(', ')} are not recorded: the trigger is missing or disabled`,
      `alter table ${tables[0]} enable trigger change_log; without a trigger, restore it from a backup of the schema`,
    );
  },
};

export const changeLogChecks: readonly DoctorCheck[] = [triggers];
