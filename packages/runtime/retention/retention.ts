import { z } from 'zod';
import { type Setting, setting } from '../settings/setting.ts';
import type { RetentionTable } from './retention-store.ts';

/**
 * Deletes old rows of one table. Ledgers (stock movements, payments, refunds, orders and their history) have no rule.
 */
export type RetentionRule = RetentionTable & {
  /** The name in `tradepost retention` and in the metrics, such as `usage`. */
  name: string;
  about: string;
  /** The age in days. The value 0 of a setting keeps the rows for ever. */
  days: Setting<number> | number;
};

/** Defines the setting for the days of a rule. */
export const retentionDays = (name: string, days: number, about: string): Setting<number> =>
  setting(
    `retention.${name}_days`,
    z.number().int().min(0).max(36_500),
    days,
    `days after which ${about} are deleted; 0 keeps them for ever`,
  );

const settingChangesDays = retentionDays('setting_changes', 730, 'rows of the history of settings');
const eventsDays = retentionDays('events', 30, 'dispatched events of the outbox');
export const runtimeRetentionSettings = [settingChangesDays, eventsDays] as const;

export const runtimeRetention: readonly RetentionRule[] = [
  {
    name: 'idempotency_keys',
    about: 'Idempotency-Keys with their answers, a day after their request',
    table: 'runtime.idempotency_keys',
    age: 't.expires_at',
    days: 0,
  },
  {
    name: 'setting_changes',
    about: 'changes of settings, with the account that made them',
    table: 'runtime.setting_changes',
    age: 't.changed_at',
    days: settingChangesDays,
  },
  {
    name: 'events',
    about: 'events that all readers have read; events that wait or have failed stay',
    table: 'runtime.outbox',
    age: 't.occurred_at',
    where: (sql) => sql`t.dispatched_at is not null`,
    days: eventsDays,
  },
];
