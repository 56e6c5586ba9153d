import { catalogErrors } from '../errors.ts';
import { maxCombinations } from '../limits.ts';

export type Attribute = { name: string; value: string };
export type SpecGroup = { name: string; values: string[] };
export type SkuOverride = {
  sku_key: string;
  sku_code?: string | undefined;
  /** Minor units. */
  price?: number | undefined;
  stock?: number | undefined;
};
/** One combination of the matrix. Values that no override sets are undefined. */
export type MatrixSku = { sku_key: string; attrs: Attribute[]; sku_code?: string; price?: number; stock?: number };

export const defaultSkuKey = '__default__';

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** `name:value` pairs sorted by name, then value, joined with `|`. Clients compute the same key. */
export function skuKeyOf(attrs: readonly Attribute[]): string {
  if (attrs.length === 0) return defaultSkuKey;
  return [...attrs]
    .sort((a, b) => byText(a.name, b.name) || byText(a.value, b.value))
    .map((a) => `${a.name}:${a.value}`)
    .join('|');
}

/**
 * Trims, deduplicates and sorts the values, and sorts the groups by name. Refuses a repeated name and a group without
 * values.
 */
export function normalizeSpecs(groups: readonly SpecGroup[]): SpecGroup[] {
  const seen = new Set<string>();
  return groups
    .map(({ name, values }) => {
      const trimmed = name.trim();
      const distinct = [...new Set(values.map((value) => value.trim()).filter(Boolean))].sort(byText);
      if (seen.has(trimmed)) throw catalogErrors.duplicate_spec({ name: trimmed });
      if (distinct.length === 0) throw catalogErrors.empty_spec({ name: trimmed });
      seen.add(trimmed);
      return { name: trimmed, values: distinct };
    })
    .sort((a, b) => byText(a.name, b.name));
}

/**
 * The overrides that contain data. The back-office forms send a blank row of the default SKU (price 0, stock 0) with
 * every product. Beside a matrix this row belongs to no SKU; without a matrix it sets only the code.
 */
function meantOverrides(overrides: readonly SkuOverride[], hasMatrix: boolean): SkuOverride[] {
  return overrides.flatMap((override) => {
    if (override.sku_key !== defaultSkuKey) return [override];
    if (hasMatrix) return [];
    return [override.price === 0 && override.stock === 0 ? { ...override, stock: undefined } : override];
  });
}

/**
 * The Cartesian product of the groups, with the overrides of each combination. Without groups it is the default SKU
 * alone.
 */
export function skuMatrix(groups: readonly SpecGroup[], overrides: readonly SkuOverride[]): MatrixSku[] {
  const count = groups.reduce((product, group) => product * group.values.length, 1);
  if (count > maxCombinations) throw catalogErrors.too_many_skus({ count, max: maxCombinations });
  const byKey = new Map<string, SkuOverride>();
  for (const override of meantOverrides(overrides, groups.length > 0)) {
    if (byKey.has(override.sku_key)) throw catalogErrors.duplicate_override({ sku_key: override.sku_key });
    byKey.set(override.sku_key, override);
  }
  let combinations: Attribute[][] = [[]];
  for (const { name, values } of groups)
    combinations = combinations.flatMap((attrs) => values.map((value) => [...attrs, { name, value }]));
  const skus = new Map<string, MatrixSku>();
  for (const attrs of combinations) {
    const sku_key = skuKeyOf(attrs);
    // A ":" or "|" in a name or value can give two combinations the same key.
    if (skus.has(sku_key)) throw catalogErrors.duplicate_spec({ name: sku_key });
    const { sku_key: _key, ...given } = byKey.get(sku_key) ?? { sku_key };
    byKey.delete(sku_key);
    skus.set(sku_key, { sku_key, attrs, ...given });
  }
  const [unknown] = byKey.keys();
  if (unknown !== undefined) throw catalogErrors.unknown_override({ sku_key: unknown });
  return [...skus.values()];
}
