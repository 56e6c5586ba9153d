import type { Transaction } from '@tradepost/postgres';
import { emptyComponents } from '../components/read-components.ts';
import { contentErrors } from '../errors.ts';
import { maxPages, maxVariants } from '../limits.ts';
import {
  deleteVariant,
  lockOrMakePage,
  lockPage,
  type NewVariant,
  renameVariant,
  selectDraft,
  upsertVariant,
  type VariantRow,
} from './decor-store.ts';
import { defaultVariant } from './variant-key.ts';

export type VariantOf = { pageKey: string; variantKey: string };

async function lockForWrite(tx: Transaction, pageKey: string): Promise<void> {
  if (!(await lockOrMakePage(tx, pageKey))) throw contentErrors.too_many_pages({ max: maxPages });
}

/** Makes a variant that does not exist, or saves its draft. The page is locked. Returns the id of the variant. */
export async function putVariant(
  tx: Transaction,
  variant: NewVariant,
  how: { keep: boolean; now: Date },
): Promise<number> {
  const row = await upsertVariant(tx, variant, how);
  if (!row) throw contentErrors.too_many_variants({ max: maxVariants });
  return row.id;
}

const stored = async (tx: Transaction, { pageKey, variantKey }: VariantOf): Promise<VariantRow> =>
  (await selectDraft(tx, pageKey, variantKey))!;

/** Locks the page and makes sure that the variant exists. Returns its id. */
export async function lockVariant(tx: Transaction, of: VariantOf, now: Date): Promise<number> {
  await lockForWrite(tx, of.pageKey);
  return putVariant(tx, { ...of, components: emptyComponents(of.pageKey) }, { keep: true, now });
}

/** Saves the draft of a variant, which is made when it does not exist. What shoppers see of a published page stays. */
export async function saveDraft(
  tx: Transaction,
  of: VariantOf & { components: string },
  now: Date,
): Promise<VariantRow> {
  await lockForWrite(tx, of.pageKey);
  await putVariant(tx, of, { keep: false, now });
  return stored(tx, of);
}

export type Copy = { pageKey: string; from: string; to: string; name: string };

/** Copies the draft of a variant to a new one. */
export async function copyVariant(tx: Transaction, { pageKey, from, to, name }: Copy, now: Date): Promise<VariantRow> {
  if (from === to) throw contentErrors.copy_to_itself();
  await lockForWrite(tx, pageKey);
  const source = await selectDraft(tx, pageKey, from);
  // The list shows the default variant before it is saved, so it can be copied.
  if (!source && from !== defaultVariant) throw contentErrors.variant_not_found();
  if (await selectDraft(tx, pageKey, to)) throw contentErrors.variant_exists({ key: to });
  const components = source?.components ?? emptyComponents(pageKey);
  await putVariant(tx, { pageKey, variantKey: to, name, components }, { keep: false, now });
  return stored(tx, { pageKey, variantKey: to });
}

/** Renames a variant. The default variant can be renamed before it is saved. */
export async function rename(tx: Transaction, of: VariantOf & { name: string }, now: Date): Promise<VariantRow> {
  if (of.variantKey === defaultVariant) await lockVariant(tx, of, now);
  else if (!(await lockPage(tx, of.pageKey))) throw contentErrors.variant_not_found();
  const variant = await selectDraft(tx, of.pageKey, of.variantKey);
  if (!variant) throw contentErrors.variant_not_found();
  await renameVariant(tx, variant.id, of.name, now);
  return { ...variant, variant_name: of.name, updated_at: now };
}

/** Deletes a variant that is neither the default nor the live one. Its publications stay. */
export async function removeVariant(tx: Transaction, of: VariantOf): Promise<void> {
  if (of.variantKey === defaultVariant) throw contentErrors.default_variant();
  const variant = (await lockPage(tx, of.pageKey)) ? await selectDraft(tx, of.pageKey, of.variantKey) : null;
  if (!variant) throw contentErrors.variant_not_found();
  if (variant.is_published) throw contentErrors.published_variant();
  await deleteVariant(tx, variant.id);
}
