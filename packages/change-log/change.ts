import type { Locale } from '@tradepost/core';
import type { Module } from '@tradepost/module';

export const sources = ['api', 'cli'] as const;
export const operations = ['insert', 'update', 'delete'] as const;

/** One changed row. An update has the changed columns only. */
export type Change = {
  id: number;
  at: Date;
  source: (typeof sources)[number];
  /** Null for a command. */
  staff_id: number | null;
  /** The username of the administrator at that time, or the user of the operating system. */
  actor_name: string;
  address: string;
  request_id: string;
  action: string;
  table_name: string;
  row_id: string;
  operation: (typeof operations)[number];
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

const verbs = {
  en: { insert: 'Created', update: 'Changed', delete: 'Deleted' },
  'zh-CN': { insert: '新建', update: '修改', delete: '删除' },
} as const satisfies Record<Locale, Record<Change['operation'], string>>;

/** Returns the function that says in one line what a change did: `Changed product 5`. */
export function openSummary(modules: readonly Module[]) {
  const declared: NonNullable<Module['changeLog']> = Object.assign({}, ...modules.map((module) => module.changeLog));
  return ({ table_name, row_id, operation, before, after }: Change, locale: Locale): string => {
    const entry = declared[table_name];
    const watched = entry && !('unwatched' in entry) ? entry : undefined;
    // Where rows have a key, it says more than their id.
    const key = (after ?? before)?.key;
    const verb = watched?.isHistory ? 'update' : operation;
    return `${verbs[locale][verb]} ${watched?.[locale] ?? table_name} ${typeof key === 'string' ? key : row_id}`;
  };
}
