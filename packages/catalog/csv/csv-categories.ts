import type { Transaction } from '@tradepost/postgres';
import { lockCategories } from '../categories/category-store.ts';
import { maxCategories } from '../limits.ts';
import type { Draft } from './csv-drafts.ts';
import { csvFileError } from './csv-faults.ts';
import { type CategoryRow, insertCategories, type Stored, selectCategoryRows } from './csv-store.ts';
import { categoriesDownTo } from './export-products.ts';

const separator = '\n';
const keyOf = (path: readonly string[]) => path.join(separator);

type Wanted = { path: string[]; row: Omit<CategoryRow, 'id' | 'parent_id'> };

/** The categories that do not exist yet, parents first. */
function missingOf(drafts: readonly Draft[], ids: ReadonlyMap<string, number>): Map<string, Wanted> {
  const missing = new Map<string, Wanted>();
  for (const { category } of drafts)
    category?.path.forEach((name, level) => {
      const path = category.path.slice(0, level + 1);
      if (ids.has(keyOf(path)) || missing.has(keyOf(path))) return;
      const said = category.detail?.[level] ?? { icon: '', sort: 0, status: 1, translations: {} };
      missing.set(keyOf(path), { path, row: { name, ...said } });
    });
  return missing;
}

/**
 * The category of each draft that names one. Missing categories are created. Two categories may have the same path: a
 * product stays in its own, and other products go to the older one.
 */
export async function categoriesIn(
  tx: Transaction,
  matched: readonly { draft: Draft; id: number }[],
  stored: ReadonlyMap<number, Stored>,
  dryRun: boolean,
): Promise<Map<Draft, number>> {
  const drafts = matched.map(({ draft }) => draft);
  if (!drafts.some((draft) => draft.category)) return new Map();
  const rows = await selectCategoryRows(tx, !dryRun);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const ids = new Map<string, number>([['', 0]]);
  const pathOfId = new Map<number, string>();
  for (const row of rows) {
    const key = keyOf(categoriesDownTo(row.id, byId).map((category) => category.name));
    pathOfId.set(row.id, key);
    if (!ids.has(key)) ids.set(key, row.id);
  }
  const missing = missingOf(drafts, ids);
  // As in the editor, no other transaction may change the tree at the same time.
  if (missing.size > 0 && !dryRun) await lockCategories(tx);
  if (missing.size > 0 && rows.length + missing.size > maxCategories)
    throw csvFileError(drafts[0]!.line, 'too_many_categories', { max: maxCategories });
  const levels = Math.max(0, ...[...missing.values()].map(({ path }) => path.length));
  for (let level = 1; level <= levels; level += 1) {
    const wanted = [...missing].filter(([, { path }]) => path.length === level);
    const inserts = wanted.map(([, { path, row }]) => ({ ...row, parent_id: ids.get(keyOf(path.slice(0, -1)))! }));
    // A dry run creates none. -1 is an id that no category has.
    const made = dryRun ? wanted.map(() => -1) : wanted.length > 0 ? await insertCategories(tx, inserts) : [];
    wanted.forEach(([key], index) => {
      ids.set(key, made[index]!);
    });
  }
  const chosen = new Map<Draft, number>();
  for (const { draft, id } of matched) {
    if (!draft.category) continue;
    const key = keyOf(draft.category.path);
    const own = stored.get(id)?.product.category_id;
    chosen.set(draft, own !== undefined && (pathOfId.get(own) ?? '') === key ? own : ids.get(key)!);
  }
  return chosen;
}
