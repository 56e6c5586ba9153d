import { lockActiveShoppers } from '@tradepost/identity';
import type { Transaction } from '@tradepost/postgres';
import { type Runtime, recordEvents, type Write } from '@tradepost/runtime';
import { type DistributionConfig, distributionConfig } from '../config/distribution-config.ts';
import { distributorApproved } from '../distribution-events.ts';
import { distributionErrors } from '../errors.ts';
import { idCardName } from '../tables.ts';
import { shownEnd } from './distributor.ts';
import { insertDistributor, nextDistributorId, selectActive, selectBinding } from './distributor-store.ts';

type Deps = Pick<Runtime, 'sql' | 'secrets' | 'settings' | 'now'>;

/** `parent_id` 0: without a referring distributor. Texts are trimmed. */
export type Application = {
  readonly user_id: number;
  readonly parent_id: number;
  readonly real_name: string;
  readonly id_card: string;
  readonly phone: string;
};

function refuseMissing({ real_name, id_card }: Application, { require_real_name }: DistributionConfig): void {
  if (!require_real_name) return;
  for (const [field, value] of Object.entries({ real_name, id_card }))
    if (value === '') throw distributionErrors.missing_field({ field });
}

/** The parent of an applicant: the distributor that the application names, else the one that the shopper is bound to. */
async function parentOf(tx: Transaction, { user_id, parent_id }: Application) {
  const bound = await selectBinding(tx, user_id);
  if (parent_id !== 0 && bound !== undefined && bound !== parent_id) throw distributionErrors.already_bound();
  const wanted = parent_id || bound;
  if (wanted === undefined) return undefined;
  const parent = await selectActive(tx, wanted);
  if (!parent && parent_id !== 0) throw distributionErrors.parent_not_found();
  return parent;
}

/** A shopper applies to become a distributor, once. The identity card number is stored encrypted. */
export async function applyAsDistributor(runtime: Deps, write: Write, application: Application): Promise<void> {
  const { sql, secrets, settings, now } = runtime;
  const config = settings.get(distributionConfig);
  if (!config.enabled) throw distributionErrors.closed();
  refuseMissing(application, config);
  const { user_id, real_name, id_card, phone } = application;
  const id = await nextDistributorId(sql);
  const id_card_sealed = id_card === '' ? null : await secrets.seal(idCardName(id), id_card);
  await write(async (tx) => {
    // The account is not deleted before this transaction ends, so its deletion finds the row.
    if ((await lockActiveShoppers(tx, [user_id])).size === 0) throw distributionErrors.not_distributor();
    const parent = await parentOf(tx, application);
    const status = config.auto_approve ? 'active' : 'pending';
    const row = { id, user_id, parent_id: parent?.id ?? null, level: (parent?.level ?? 0) + 1, status } as const;
    const at = now();
    const person = { real_name, id_card_sealed, id_card_end: shownEnd(id_card), phone };
    if (!(await insertDistributor(tx, { ...row, ...person }, at))) throw distributionErrors.already_applied();
    if (status === 'active') await recordEvents(tx, distributorApproved, [{ distributor_id: id, user_id }], at);
    return null;
  });
}
