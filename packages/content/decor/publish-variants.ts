import type { Transaction } from '@tradepost/postgres';
import { contentErrors } from '../errors.ts';
import { lockVariant, putVariant, type VariantOf } from './change-variants.ts';
import { lockPage, selectDraft, type VariantRow } from './decor-store.ts';
import { publishVariant, selectPublication } from './publication-store.ts';

/** `by` is the id of the administrator, 0 at the command line. */
type Act = { by: number; now: Date };

/** Publishes the draft of a variant. All other variants of the page are no longer live. */
export async function publish(tx: Transaction, of: VariantOf, act: Act): Promise<VariantRow> {
  const variantId = await lockVariant(tx, of, act.now);
  await publishVariant(tx, { pageKey: of.pageKey, variantId, from: null }, act);
  return (await selectDraft(tx, of.pageKey, of.variantKey))!;
}

/**
 * Publishes the content of an earlier publication again, as its variant. The draft of the variant stays. A variant that was
 * deleted is made again.
 */
export async function rollBack(
  tx: Transaction,
  { pageKey, publicationId }: { pageKey: string; publicationId: number },
  act: Act,
): Promise<VariantRow> {
  const found = (await lockPage(tx, pageKey)) ? await selectPublication(tx, pageKey, publicationId) : null;
  if (!found) throw contentErrors.publication_not_found();
  const { variant_key: variantKey, variant_name: name, components } = found;
  const variantId = await putVariant(tx, { pageKey, variantKey, name, components }, { keep: true, now: act.now });
  await publishVariant(tx, { pageKey, variantId, from: found.id }, act);
  return (await selectDraft(tx, pageKey, variantKey))!;
}
