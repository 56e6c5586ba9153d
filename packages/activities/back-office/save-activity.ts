import { instantInZone, toMinor } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { type Runtime, timeZone } from '@tradepost/runtime';
import type { Activity } from '../activity.ts';
import { type ActivityKind, type ActivityOptions, defaultOptions } from '../activity-kinds.ts';
import { activityErrors } from '../errors.ts';
import type { ActivityFields } from '../schemas.ts';
import {
  insertActivity,
  lockActivities,
  lockActivity,
  markActivityDeleted,
  type NewActivity,
  updateActivity,
} from './activity-store.ts';

type Deps = { readonly runtime: Pick<Runtime, 'settings' | 'now'>; readonly kind: ActivityKind };

/** The refusals of `createActivity` and `changeActivity`. */
export const saveRefusals = (kind: ActivityKind) => [
  activityErrors.invalid_activity_time,
  activityErrors.ends_before_start,
  activityErrors.activity_overlap,
  ...(kind.checkOptions?.refuses ?? []),
];

/** A time of staff in whole seconds, as answers show it. A date is its first second, or as an end its last one. */
function momentOf({ settings }: Deps['runtime'], field: 'start_at' | 'end_at', given: string): Date {
  const whole =
    /^\d{4}-\d\d-\d\d$/.test(given.trim()) && field === 'end_at' ? `${given.trim()}T23:59:59` : given.trim();
  const at = instantInZone(whole, settings.get(timeZone), 'start');
  if (!at) throw activityErrors.invalid_activity_time({ field });
  at.setUTCMilliseconds(0);
  return at;
}

/** The options in a request, in minor units. */
const optionsIn = ({ options }: ActivityKind, fields: ActivityFields): ActivityOptions =>
  Object.fromEntries(
    options.flatMap(({ name, unit }) => {
      const value = fields[name];
      return value === undefined ? [] : [[name, unit === 'amount' ? toMinor(value) : value]];
    }),
  );

function check(
  kind: ActivityKind,
  { start_at, end_at, options }: Pick<NewActivity, 'start_at' | 'end_at' | 'options'>,
) {
  if (start_at >= end_at) throw activityErrors.ends_before_start();
  kind.checkOptions?.check(options);
}

/** Turns the violation of the exclusion constraint into its refusal. */
async function orOverlap<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if ((error as { constraint_name?: unknown } | null)?.constraint_name === 'activities_do_not_overlap')
      throw activityErrors.activity_overlap();
    throw error;
  }
}

export async function createActivity(
  tx: Transaction,
  { runtime, kind }: Deps,
  fields: ActivityFields & { name: string; start_at: string; end_at: string; status: 0 | 1 },
): Promise<Activity> {
  const activity: NewActivity = {
    ...{ type: kind.type, name: fields.name, status: fields.status },
    start_at: momentOf(runtime, 'start_at', fields.start_at),
    end_at: momentOf(runtime, 'end_at', fields.end_at),
    options: { ...defaultOptions(kind), ...optionsIn(kind, fields) },
  };
  check(kind, activity);
  await lockActivities(tx);
  return orOverlap(insertActivity(tx, activity, runtime.now()));
}

/** Changes the given fields. An empty time stays, as an absent one. */
export async function changeActivity(
  tx: Transaction,
  { runtime, kind }: Deps,
  id: number,
  fields: ActivityFields,
): Promise<void> {
  const change = {
    ...{ name: fields.name ?? null, status: fields.status ?? null },
    start_at: fields.start_at?.trim() ? momentOf(runtime, 'start_at', fields.start_at) : null,
    end_at: fields.end_at?.trim() ? momentOf(runtime, 'end_at', fields.end_at) : null,
    options: optionsIn(kind, fields),
  };
  await lockActivities(tx);
  const found = await lockActivity(tx, kind.type, id);
  if (!found) throw activityErrors.activity_unknown();
  check(kind, {
    start_at: change.start_at ?? found.start_at,
    end_at: change.end_at ?? found.end_at,
    options: { ...defaultOptions(kind), ...found.options, ...change.options },
  });
  await orOverlap(updateActivity(tx, { type: kind.type, id }, change, runtime.now()));
}

export async function deleteActivity(tx: Transaction, { runtime, kind }: Deps, id: number): Promise<void> {
  if (!(await markActivityDeleted(tx, { type: kind.type, id }, runtime.now()))) throw activityErrors.activity_unknown();
}
