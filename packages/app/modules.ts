import { aiImagesModule } from '@tradepost/ai-images';
import { analyticsModule } from '@tradepost/analytics';
import { backofficeModule } from '@tradepost/backoffice';
import { carrierSimulatorModule } from '@tradepost/carrier-simulator';
import { catalogModule } from '@tradepost/catalog';
import { changeLogModule } from '@tradepost/change-log';
import { contentModule } from '@tradepost/content';
import { externalWmsModule } from '@tradepost/external-wms';
import { fulfilmentModule } from '@tradepost/fulfilment';
import { gatewayModule } from '@tradepost/gateway';
import { identityModule } from '@tradepost/identity';
import { imageSimulatorModule } from '@tradepost/image-simulator';
import { inventoryModule } from '@tradepost/inventory';
import { messageCentreModule } from '@tradepost/message-centre';
import { chooseModules, declaredBy, type Module } from '@tradepost/module';
import { ordersModule } from '@tradepost/orders';
import { reviewsModule } from '@tradepost/reviews';
import type { Audit, Config, RetentionRule, Setting } from '@tradepost/runtime';
import { storageModule } from '@tradepost/storage';
import { warehouseSimulatorModule } from '@tradepost/warehouse-simulator';
import { webhooksModule } from '@tradepost/webhooks';
import { demoModule } from './demo-module.ts';
import { runtimeModule } from './runtime-module.ts';

/** The list of modules of the shop. A module comes after the modules that it needs. */
export const modules: readonly Module[] = [
  runtimeModule,
  demoModule,
  storageModule,
  identityModule,
  changeLogModule,
  catalogModule,
  inventoryModule,
  externalWmsModule,
  ordersModule,
  fulfilmentModule,
  reviewsModule,
  contentModule,
  messageCentreModule,
  analyticsModule,
  carrierSimulatorModule,
  aiImagesModule,
  imageSimulatorModule,
  webhooksModule,
  gatewayModule,
  backofficeModule,
  warehouseSimulatorModule,
];

/** The modules that this configuration runs. Throws ConfigError when a required module is missing. */
export const modulesOf = (config: Pick<Config, 'modules'>): readonly Module[] =>
  chooseModules(modules, config.modules ?? null);

/** The settings of the modules that this configuration runs. */
export const settingsOf = (config: Pick<Config, 'modules'>): readonly Setting[] =>
  declaredBy(modulesOf(config), 'settings', modules);

/** Settings of all modules. The settings of the runtime package are not in this list; every shop has them. */
export const settings: readonly Setting[] = declaredBy(modules, 'settings');
/** Invariants of all modules. */
export const audits: readonly Audit[] = declaredBy(modules, 'audits');
/** Retention rules of all modules: the rows that are deleted when they are old. */
export const retention: readonly RetentionRule[] = declaredBy(modules, 'retention');
