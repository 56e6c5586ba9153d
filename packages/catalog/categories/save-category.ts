import type { Locale } from '@tradepost/core';
import type { Sql, Transaction } from '@tradepost/postgres';
import { catalogErrors } from '../errors.ts';
import { maxCategories } from '../limits.ts';
import { categoryTexts, savedTexts } from '../shop-texts.ts';
import {
  type Category,
  type CategoryFields,
  type CategoryTranslations,
  countInside,
  deleteCategoryRow,
  insertCategory,
  lockCategories,
  lockCategory,
  updateCategory,
} from './category-store.ts';

export const maxLevels = 3;
type Node = Pick<Category, 'id' | 'parent_id'>;

/**
 * The number of levels from the root down to `id`, including `id`. It is 0 without a category. It ends in a cycle that
 * exists already.
 */
function levelsAbove(parents: ReadonlyMap<number, number>, id: number): number {
  let levels = 0;
  for (let at = id; at > 0 && parents.has(at) && levels <= parents.size; at = parents.get(at)!) levels += 1;
  return levels;
}

/** Refuses a parent that does not exist, that is below the category itself, or that would make the tree too deep. */
function checkPlace(nodes: readonly Node[], id: number | null, parentId: number): void {
  const parents = new Map(nodes.map((node) => [node.id, node.parent_id]));
  if (parentId > 0 && !parents.has(parentId)) throw catalogErrors.no_such_category({ field: 'parent_id' });
  const ancestors = new Set<number>();
  for (let at = parentId; at > 0 && !ancestors.has(at); at = parents.get(at) ?? 0) ancestors.add(at);
  if (id !== null && ancestors.has(id)) throw catalogErrors.category_in_itself();
  const children = new Map<number, number[]>();
  for (const node of nodes) children.set(node.parent_id, [...(children.get(node.parent_id) ?? []), node.id]);
  let height = 1;
  for (let level = id === null ? [] : (children.get(id) ?? []); level.length > 0 && height <= maxLevels; height += 1)
    level = level.flatMap((child) => children.get(child) ?? []);
  if (levelsAbove(parents, parentId) + height > maxLevels) throw catalogErrors.category_too_deep({ max: maxLevels });
}

export async function createCategory(sql: Sql, fields: CategoryFields): Promise<Category> {
  return sql.begin(async (tx) => {
    const nodes = await lockCategories(tx);
    if (nodes.length >= maxCategories) throw catalogErrors.too_many_categories({ max: maxCategories });
    checkPlace(nodes, null, fields.parent_id);
    return insertCategory(tx, fields);
  });
}

/**
 * Changes the given fields. A moved category keeps the categories below it. `name` is the name in `shop`, the language
 * of the shop.
 */
export async function editCategory(
  tx: Transaction,
  id: number,
  fields: Parameters<typeof updateCategory>[2],
  shop: Locale,
): Promise<void> {
  const nodes = await lockCategories(tx);
  const node = nodes.find((candidate) => candidate.id === id);
  if (!node) throw catalogErrors.category_not_there();
  if (fields.parent_id !== undefined && fields.parent_id !== node.parent_id) checkPlace(nodes, id, fields.parent_id);
  const stored = { base: { name: node.name }, translations: node.translations };
  const given = { fields: { name: fields.name }, translations: fields.translations };
  const { base, translations } = savedTexts(stored, given, shop, categoryTexts);
  const name = base.name as string;
  await updateCategory(tx, id, { ...fields, name, translations: translations as CategoryTranslations });
}

export async function deleteCategory(tx: Transaction, id: number): Promise<void> {
  await lockCategories(tx);
  if (!(await lockCategory(tx, id))) throw catalogErrors.category_not_there();
  const { children, products } = await countInside(tx, id);
  if (children > 0) throw catalogErrors.category_has_children({ count: children });
  if (products > 0) throw catalogErrors.category_has_products({ count: products });
  await deleteCategoryRow(tx, id);
}
