import { type ConfigPage, type Setting, setting } from '@tradepost/runtime';
import { z } from 'zod';
import type { CarrierDriver } from './drivers/driver.ts';
import { carrierRetentionSettings } from './retention.ts';

const page: ConfigPage = {
  plugin: 'logistics_router',
  title: { en: 'Shipment tracking', 'zh-CN': '物流查询' },
  sort: 20,
};

export const routerEnabled = setting(
  'logistics_router.enabled',
  z.boolean(),
  true,
  'whether carriers are queried, by polling and by hand',
  { field: { page, label: { en: 'Query carriers', 'zh-CN': '启用物流查询' }, sort: 10 } },
);

const slotNames = ['provider_a', 'provider_b'] as const;
/**
 * The settings that name a driver, as they are read. Their values depend on the drivers of all modules, so the
 * registered definitions come from `routerSettings`.
 */
export const slots = {
  provider_a: setting('logistics_router.provider_a', z.string(), 'kuaidi100', 'driver of the slot provider_a'),
  provider_b: setting('logistics_router.provider_b', z.string(), 'kdniao', 'driver of the slot provider_b'),
} as const;
export const primaryDriver = setting(
  'logistics_router.primary_driver',
  z.string(),
  'kuaidi100',
  'driver that is asked first about a new shipment',
  { field: { page, label: { en: 'First driver', 'zh-CN': '主用驱动' }, sort: 20 } },
);
export const secondaryDriver = setting(
  'logistics_router.secondary_driver',
  z.string(),
  'kdniao',
  'driver that is asked when the first one has failed; empty for none',
  {
    field: {
      page,
      label: { en: 'Second driver', 'zh-CN': '备用驱动' },
      sort: 30,
      choiceLabels: { '': { en: 'None', 'zh-CN': '无' } },
    },
  },
);

export const pollingEnabled = setting(
  'logistics_router.polling_enabled',
  z.boolean(),
  false,
  'whether shipments on their way are queried at intervals',
  { field: { page, label: { en: 'Query at intervals', 'zh-CN': '启用定时查询' } } },
);
export const pollingInterval = setting(
  'logistics_router.polling_interval_seconds',
  z.number().int().min(30).max(86_400),
  300,
  'seconds between two queries of a shipment',
  { field: { page, label: { en: 'Interval in seconds', 'zh-CN': '查询间隔（秒）' } } },
);
export const pollingBatchSize = setting(
  'logistics_router.polling_batch_size',
  z.number().int().min(1).max(1_000),
  100,
  'shipments that a process takes at once',
  { field: { page, label: { en: 'Shipments at once', 'zh-CN': '每批数量' } } },
);
export const carrierTimeoutMs = setting(
  'logistics_router.timeout_ms',
  z.number().int().min(50).max(30_000),
  5_000,
  'milliseconds that a query of a carrier service may take',
);
export const carrierConcurrency = setting(
  'logistics_router.concurrency',
  z.number().int().min(1).max(64),
  8,
  'queries that a process sends to one carrier service at once',
);

const listed = (names: readonly string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(names);

/** The settings of the router, with the names of these drivers, their aliases and the slots as values. */
export function routerSettings(drivers: readonly CarrierDriver[]): Setting[] {
  const names = drivers.flatMap(({ name, aliases }) => [name, ...aliases]);
  const own = drivers.map(({ name }) => name);
  const naming = (of: Setting<string>, values: readonly string[], choices = own): Setting<string> => ({
    ...of,
    schema: z.enum(values as [string, ...string[]]),
    about: `${of.about}: ${listed(values.filter((value) => value !== ''))}`,
    ...(of.field ? { field: { ...of.field, choices } } : {}),
  });
  return [
    ...slotNames.map((slot) => naming(slots[slot], names)),
    naming(primaryDriver, [...names, ...slotNames]),
    naming(secondaryDriver, [...names, ...slotNames, ''], [...own, '']),
  ];
}

export const carrierSettings: readonly Setting[] = [
  routerEnabled,
  pollingEnabled,
  pollingInterval,
  pollingBatchSize,
  carrierTimeoutMs,
  carrierConcurrency,
  ...carrierRetentionSettings,
];
