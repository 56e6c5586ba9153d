import type { Module } from '@tradepost/module';
import { storageTables } from './tables.ts';

export const storageModule: Module = {
  name: 'storage',
  tables: storageTables,
};
