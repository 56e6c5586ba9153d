import type { Transaction } from '@tradepost/postgres';
import { type Runtime, shopLocale } from '@tradepost/runtime';
import { insertCompletedDocuments } from '../documents/complete-documents.ts';
import type { ProviderName } from '../settings.ts';
import {
  firstWarehouse,
  hasUnshelved,
  lockAllSkus,
  lockProviderState,
  placeReservations,
  selectHeldOnSkus,
  selectShelves,
  takeReservationsBack,
  writeProviderState,
} from './migration-store.ts';
import { planTakeOver } from './plan-migration.ts';

const mainWarehouse = { en: 'Main warehouse', 'zh-CN': '主仓库' } as const;

type Deps = Pick<Runtime, 'sql' | 'now' | 'settings'>;

/** Puts the stock that SKUs keep themselves on shelves, by completed documents, and their open reservations with it. */
async function intoWarehouses({ settings, now }: Deps, tx: Transaction): Promise<void> {
  // Warehouses are locked before SKUs, here as everywhere.
  const first = await firstWarehouse(tx, mainWarehouse[settings.get(shopLocale)]);
  const skus = await lockAllSkus(tx);
  const { moves, placed } = planTakeOver(skus, await selectShelves(tx), await selectHeldOnSkus(tx), first);
  const at = now();
  // What comes in from another warehouse has to have left it.
  const documents = [...moves].sort((a, b) => b.doc_type.localeCompare(a.doc_type));
  const { outcomes, statements } = await insertCompletedDocuments(
    tx,
    documents.map((move) => ({
      ...{ ...move, biz_type: 'takeover' as const, biz_no: at.toISOString() },
      remark: 'inventory.provider = builtin_wms',
    })),
    { mirrors: false, now: at },
  );
  const refusal = outcomes.find((outcome) => outcome instanceof Error);
  if (refusal) throw refusal;
  for (const statement of statements) await statement;
  if (placed.length > 0) await placeReservations(tx, placed);
}

/**
 * Takes the books along when another provider is in force than at the last start. Stock goes from SKUs into warehouses and
 * back; what an external warehouse knows stays there. Orders that a former provider holds are settled by it. Answers
 * every provider that was ever in force here, the present one last.
 */
export async function takeOver(deps: Deps, provider: ProviderName): Promise<readonly ProviderName[]> {
  const known = await deps.sql.begin(async (tx) => {
    const state = await lockProviderState(tx);
    if (state?.provider === provider) {
      // A seed was cut off between its goods and their shelves.
      if (provider === 'builtin_wms' && (await hasUnshelved(tx))) await intoWarehouses(deps, tx);
      return state.known;
    }
    // Before there was a choice the SKUs kept their stock; a shop without any has no past.
    const { provider: before, known: former } = state ?? { provider: 'local' as const, known: ['local' as const] };
    if (provider === 'builtin_wms') await intoWarehouses(deps, tx);
    else if (before === 'builtin_wms') {
      await lockAllSkus(tx);
      await takeReservationsBack(tx);
    }
    const all = [...former.filter((name) => name !== provider), provider];
    await writeProviderState(tx, { provider, known: all });
    return all;
  });
  return known as readonly ProviderName[];
}

/** Goods were put into an empty shop by a seed: where warehouses keep the stock, theirs goes on shelves too. */
export async function shelveSeeded(deps: Deps): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const state = await lockProviderState(tx);
    if (state?.provider === 'builtin_wms') await intoWarehouses(deps, tx);
  });
}
