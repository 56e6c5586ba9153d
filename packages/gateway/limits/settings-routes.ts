import { isoInZone, paged, pagingOf } from '@tradepost/core';
import { defineRoute, largeBody, list, pagedOf, type Route } from '@tradepost/http';
import { type Runtime, runtimeErrors, timeZone } from '@tradepost/runtime';
import { gatewayErrors } from '../errors.ts';
import { maxSettings, pageQuery, settingBody, settingChangeView, settingParams, settingView } from '../schemas.ts';
import { saveRateSettings, settingRows, settingsNamed } from './rate-settings.ts';

const shared = { auth: 'staff', permission: 'system:config', tag: 'Rate limits', params: settingParams } as const;

export function settingsRoutes(runtime: Pick<Runtime, 'settings'>): Route[] {
  const { settings } = runtime;
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/settings/:key',
      summary: 'One setting of the rate limiter, or all: value, default and source of the value',
      response: list(settingView, maxSettings),
      refuses: [runtimeErrors.unknown_setting],
      statements: 0,
      handle: ({ params }) => settingRows(runtime, settingsNamed(params.key).keys),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: '/api/admin/settings/:key',
      bodyLimit: largeBody,
      summary: 'Change one setting of the rate limiter, or several; all are saved or none',
      description:
        'For one setting (`ratelimit.ip_rpm`) the body is `{ "value": 300 }`. For the group (`ratelimit.*`) it names the settings: ' +
        '`{ "ip_rpm": 300, "enabled": true }`. null resets to the default. Every instance uses the change at once, or within 30 s ' +
        'when the message is lost. Requests that were admitted before still count.',
      body: settingBody,
      repeat: 'natural',
      response: list(settingView, maxSettings),
      refuses: [
        runtimeErrors.unknown_setting,
        gatewayErrors.no_setting,
        gatewayErrors.nothing_to_set,
        gatewayErrors.setting_twice,
        gatewayErrors.setting_switch,
        gatewayErrors.setting_range,
        gatewayErrors.setting_invalid,
        gatewayErrors.fixed_by_file,
      ],
      // One statement locks, one writes, one reads all settings again, one notifies the other instances.
      statements: 4,
      async handle({ params, body, caller, actor }) {
        await saveRateSettings(runtime, settingsNamed(params.key), body, { by: `admin:${caller.id}`, actor });
        return settingRows(runtime, settingsNamed('ratelimit').keys);
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/api/admin/settings/:key/changes',
      summary: 'Changes of one setting or of all, with their authors, the newest first',
      query: pageQuery,
      response: pagedOf(settingChangeView),
      refuses: [runtimeErrors.unknown_setting],
      statements: 1,
      async handle({ params, query }) {
        const paging = pagingOf(query);
        const { keys } = settingsNamed(params.key);
        const { rows, total } = await settings.changes({ keys, limit: paging.size, offset: paging.offset });
        const zone = settings.get(timeZone);
        const list = rows.map((row) => ({ ...row, changed_at: isoInZone(row.changed_at, zone) }));
        return paged(list, total, paging);
      },
    }),
  ];
}
