import { defineRoute, largeBody, nothing, type Route } from '@tradepost/http';
import { type Runtime, runtimeErrors } from '@tradepost/runtime';
import { backofficeErrors } from '../errors.ts';
import { type ConfigPlugin, configPlugins } from './config-pages.ts';
import { configSchemas, configValues, saveConfig } from './config-values.ts';
import {
  configForm,
  configSchemasView,
  configValuesView,
  pluginParams,
  smsConfigForm,
  smsConfigView,
} from './schemas.ts';
import { openEntryGuard } from './staff-values.ts';

/** The plugin whose settings have an endpoint of their own too. */
const smsPlugin = 'sms';

const shared = { auth: 'staff', permission: 'system:config', tag: 'Configuration' } as const;
const saving = {
  method: 'PUT',
  bodyLimit: largeBody,
  repeat: 'natural',
  refuses: [backofficeErrors.config_value, backofficeErrors.fixed_by_file, runtimeErrors.secrets_unusable],
  // One statement locks, one compares secrets, one writes, one reads all settings again, one notifies the other instances. Three
  // more record the key of the first secret.
  statements: 8,
} as const;
const merging =
  'Absent keys stay unchanged, unknown keys are ignored, an empty text restores the default. A secret that is sent as *** stays ' +
  'unchanged. When one value is refused, nothing is stored. Every instance uses the change at once, or within 30 s when the ' +
  'message is lost.';

export function configRoutes(runtime: Pick<Runtime, 'settings' | 'config'>): Route[] {
  const shop = { settings: runtime.settings, guard: openEntryGuard(runtime.config) };
  const plugins = configPlugins(runtime.settings.definitions());
  const named = (name: string): ConfigPlugin => {
    const plugin = plugins.get(name);
    if (!plugin) throw backofficeErrors.no_plugin({ plugin: name });
    return plugin;
  };
  const valuesOf = (plugin: ConfigPlugin) => configValues(runtime, plugin);
  const smsValues = () => {
    const { provider = '', access_key = '', secret_key = '', sign_name = '' } = valuesOf(named(smsPlugin));
    return { provider, access_key, secret_key, sign_name };
  };
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/config/schemas',
      summary: 'The forms of the configuration centre: plugins of the modules that run, with their fields',
      response: configSchemasView,
      statements: 0,
      handle: ({ locale }) => configSchemas(runtime, plugins.values(), locale),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/config/:plugin',
      params: pluginParams,
      summary: 'The values of a plugin as texts; secrets are masked',
      response: configValuesView,
      refuses: [backofficeErrors.no_plugin],
      statements: 0,
      handle: ({ params }) => valuesOf(named(params.plugin)),
    }),
    defineRoute({
      ...shared,
      ...saving,
      path: '/admin/api/config/:plugin',
      params: pluginParams,
      summary: 'Change values of a plugin',
      description: merging,
      body: configForm,
      response: nothing,
      refuses: [backofficeErrors.no_plugin, ...saving.refuses],
      async handle({ params, body, locale, caller, actor }) {
        await saveConfig(shop, named(params.plugin), body, { locale, by: `admin:${caller.id}`, actor });
        return null;
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/admin/api/system/sms/config',
      summary: 'The account at the SMS service; the plugin sms of the configuration centre',
      response: smsConfigView,
      statements: 0,
      handle: smsValues,
    }),
    defineRoute({
      ...shared,
      ...saving,
      path: '/admin/api/system/sms/config',
      summary: 'Change the account at the SMS service',
      description: merging,
      body: smsConfigForm,
      response: smsConfigView,
      async handle({ body, locale, caller, actor }) {
        await saveConfig(shop, named(smsPlugin), body, { locale, by: `admin:${caller.id}`, actor });
        return smsValues();
      },
    }),
  ];
}
