import type { AppError } from '@tradepost/core';
import { parseTarget } from '@tradepost/outbound-http';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime, Write } from '@tradepost/runtime';
import type { ImageDriver } from '../drivers/driver.ts';
import type { ServiceNetwork } from '../drivers/service-network.ts';
import { aiImageErrors } from '../errors.ts';
import { maxModels } from '../limits.ts';
import { modelSecret } from '../tables.ts';
import type { ModelChange } from './model-schemas.ts';
import { clearDefault, deleteModels, type ImageModel, lockModels, nextModelId, upsertModels } from './model-store.ts';
import { type ModelView, viewOfModel } from './model-view.ts';

export type ModelDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'secrets'>;
  readonly drivers: readonly ImageDriver[];
  readonly guard: Pick<ServiceNetwork, 'guard'>['guard'];
};

/** The refusal of an endpoint, or null. An endpoint without a slash at its end is stored. */
async function endpointIn(deps: ModelDeps, text: string): Promise<string> {
  const target = parseTarget(text);
  if (typeof target === 'string' || target.search !== '' || target.hash !== '') throw aiImageErrors.endpoint_address();
  // A host that has no address yet is accepted: each connection checks it again.
  if ((await deps.guard.check(target)) === 'private_address') throw aiImageErrors.endpoint_private();
  return target.href.replace(/\/+$/, '');
}

const isOn = (flag: 0 | 1 | undefined, before: boolean): boolean => (flag === undefined ? before : flag === 1);

/** A row of this shop's models with the fields of a change. Absent fields stay. */
function changed(before: ImageModel, { api_key: _key, params, ...change }: ModelChange): ImageModel {
  return {
    ...before,
    name: change.name ?? before.name,
    driver: change.driver ?? before.driver,
    params: params ?? before.params,
    is_default: isOn(change.is_default, before.is_default),
    status: change.status ?? before.status,
    supports_ref_image: isOn(change.supports_ref_image, before.supports_ref_image),
  };
}

/** Writes one row. Of all models at most one is the default, and it is enabled. */
async function writeModel(tx: Transaction, row: ImageModel): Promise<ImageModel> {
  if (row.is_default && row.status === 0) throw aiImageErrors.default_disabled();
  if (row.is_default) await clearDefault(tx, row.id);
  await upsertModels(tx, [row]);
  return row;
}

const sealed = async ({ runtime }: ModelDeps, id: number, key: string | undefined): Promise<string | null> =>
  key ? runtime.secrets.seal(modelSecret(id), key) : null;

/** The address of a driver, when the request names none. */
const addressOf = (deps: ModelDeps, driver: string, endpoint: string | undefined): string =>
  endpoint || deps.drivers.find(({ name }) => name === driver)!.endpoint;

/** Adds a model. The first one becomes the default. */
export async function addModel(
  deps: ModelDeps,
  change: ModelChange & { name: string; driver: string },
  write: Write,
): Promise<ModelView> {
  const endpoint = await endpointIn(deps, addressOf(deps, change.driver, change.endpoint));
  const id = await nextModelId(deps.runtime.sql);
  const api_key_sealed = await sealed(deps, id, change.api_key);
  return write(async (tx) => {
    const models = await lockModels(tx);
    if (models.length >= maxModels) throw aiImageErrors.too_many_models({ max: maxModels });
    const first = models.length === 0 && change.status !== 0 && change.is_default === undefined;
    const blank = { is_default: first, status: 1 as const, supports_ref_image: false, params: {} };
    const { name, driver } = change;
    return viewOfModel(await writeModel(tx, changed({ id, name, driver, endpoint, api_key_sealed, ...blank }, change)));
  });
}

/** Refuses a change that would send the stored key to another address. The key can be changed by staff, and not read. */
function keyFault(before: ImageModel, after: { driver: string; endpoint: string }): AppError | null {
  const sameAddress =
    new URL(before.endpoint).origin === new URL(after.endpoint).origin && before.driver === after.driver;
  return sameAddress || before.api_key_sealed === null ? null : aiImageErrors.endpoint_without_key();
}

export async function changeModel(deps: ModelDeps, id: number, change: ModelChange, write: Write): Promise<ModelView> {
  const entered = change.endpoint ? await endpointIn(deps, change.endpoint) : undefined;
  const key = await sealed(deps, id, change.api_key);
  return write(async (tx) => {
    const before = (await lockModels(tx)).find((model) => model.id === id);
    if (!before) throw aiImageErrors.model_not_found();
    const row = changed(before, change);
    // Another driver without an endpoint gets the address of its service.
    const moved = entered === undefined && row.driver !== before.driver;
    const endpoint = moved ? addressOf(deps, row.driver, undefined) : (entered ?? before.endpoint);
    const fault = key === null ? keyFault(before, { driver: row.driver, endpoint }) : null;
    if (fault) throw fault;
    return viewOfModel(await writeModel(tx, { ...row, endpoint, api_key_sealed: key ?? before.api_key_sealed }));
  });
}

/** Removes models. Their running tasks fail. */
export async function removeModels(tx: Transaction, ids: readonly number[]): Promise<void> {
  if ((await deleteModels(tx, ids)).length < ids.length) throw aiImageErrors.model_not_found();
}
