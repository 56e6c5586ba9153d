import type { StockOwner } from '@tradepost/catalog';
import type { RefusalFactory } from '@tradepost/core';
import { defineRegistry, type Provision } from '@tradepost/module';
import type { Statement, Transaction } from '@tradepost/postgres';
import { ConfigError, type Runtime, type Setting } from '@tradepost/runtime';
import type { CompletedDocument } from '../documents/document-hooks.ts';
import type { InventoryProvider, NotifyNow, PreReserve, WriteOrderStatus } from './provider.ts';

/** The properties of a provider. Code outside the provider decides by them and does not compare provider names. */
type ProviderCapabilities = {
  /**
   * Stock and reservations are rows of this package. When the provider changes, they are migrated to the next provider that
   * holds locally. Without this capability, open orders stay with the provider that reserved them.
   */
  readonly holdsLocally: boolean;
  /** Warehouses hold the stock, and each SKU carries the sums over the enabled warehouses. Needs `holdsLocally`. */
  readonly mirrorsWarehouses: boolean;
};

/** A provider of stock for orders. The setting inventory.provider chooses one by its name. */
export type InventoryProviderEntry = {
  readonly name: string;
  /** Other values of inventory.provider that mean this provider. */
  readonly aliases?: readonly string[];
  /** Where the stock is; part of the description of inventory.provider. */
  readonly about?: string;
  readonly capabilities: ProviderCapabilities;
  /** Settings that are read once at start. An invalid stored value stops the start instead of being ignored. */
  readonly readAtStart?: readonly Setting[];
  /** Throws ConfigError with every setting that this provider needs and that is not set. */
  check?(runtime: Pick<Runtime, 'settings'>): void;
  /** How the catalogue edits stock while this provider is active. */
  stockOwner(runtime: Pick<Runtime, 'settings' | 'now'>): Omit<StockOwner, 'sellable'>;
  /** Called once at start for every provider, active or not: an inactive one may still have open orders. */
  open(deps: ProviderDeps): OpenedProvider;
};

type ProviderDeps = { runtime: Runtime; writeOrderStatus: WriteOrderStatus };

export type OpenedProvider = {
  readonly operations: InventoryProvider;
  readonly preReserve?: PreReserve | null;
  /** The refusals that `preReserve` throws. */
  readonly preReserveRefusals?: readonly RefusalFactory[];
  readonly notifyNow?: NotifyNow | null;
  /** The sellable quantities that the catalogue shows. Without it the catalogue shows the stock column. */
  readonly sellable?: NonNullable<StockOwner['sellable']>;
  /** Statements for the transaction that completes warehouse documents. */
  completed?(tx: Transaction, docs: readonly CompletedDocument[]): Statement[];
  /** Services for the module of the provider's package, which opens after inventory. */
  readonly provides?: readonly Provision[];
  close?(): Promise<void>;
};

export const inventoryProviders = defineRegistry<InventoryProviderEntry>('inventory.providers', { isStatic: true });

/** The entry with this name. Throws ConfigError with all names when no running module has it. */
export function entryOf(entries: readonly InventoryProviderEntry[], name: string): InventoryProviderEntry {
  const entry = entries.find((one) => one.name === name);
  if (entry) return entry;
  const names = entries.map((one) => one.name).join(', ');
  throw new ConfigError([`inventory.provider: there is no provider ${name}; there are ${names}`]);
}

/** The provider that holds stock on the SKUs. It settles open local orders while no local provider is active. */
export function skuLedgerOf(entries: readonly InventoryProviderEntry[]): InventoryProviderEntry {
  const entry = entries.find(({ capabilities }) => capabilities.holdsLocally && !capabilities.mirrorsWarehouses);
  if (!entry) throw new Error('no inventory provider holds stock on the SKUs');
  return entry;
}

/** The names of the providers that hold stock in warehouses. */
export const warehouseProviderNames = (entries: readonly InventoryProviderEntry[]): string[] =>
  entries.filter(({ capabilities }) => capabilities.mirrorsWarehouses).map(({ name }) => name);

/** The names of the providers that do not hold stock and reservations in this database. */
export const remoteProviderNames = (entries: readonly InventoryProviderEntry[]): string[] =>
  entries.filter(({ capabilities }) => !capabilities.holdsLocally).map(({ name }) => name);
