import type { Runtime } from '@tradepost/runtime';
import type { StorageDrivers } from '../drivers/open-drivers.ts';

export type StorageDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'settings' | 'config' | 'log' | 'metrics' | 'now'>;
  readonly drivers: StorageDrivers;
};
