import { defineRegistry } from '@tradepost/module';
import { isHttpAddress, type Setting, type Settings } from '@tradepost/runtime';

/** A shipment as a driver queries it. `company` is the code of the company at this driver. */
export type CarrierQuery = { readonly company: string; readonly tracking_no: string; readonly phone: string };

export type CarrierStatus = 'shipped' | 'in_transit' | 'signed' | 'exception';

/** An event on the way of a shipment. */
export type CarrierNode = {
  readonly status_code: string;
  readonly status_text: string;
  readonly event_time: Date;
  readonly location: string;
  /** The event as the carrier sent it. Empty when it is too large to be kept. */
  readonly raw_payload: Readonly<Record<string, unknown>>;
};

/**
 * The meaning of an answer. refused: the service has answered that it knows nothing or rejects the query. garbage: the
 * answer is not of the protocol.
 */
export type CarrierAnswer =
  | { readonly kind: 'found'; readonly status: CarrierStatus; readonly nodes: readonly CarrierNode[] }
  | { readonly kind: 'refused' | 'garbage'; readonly reason: string };

export type SettingReader = Pick<Settings, 'get'>;

/** A carrier service that can be queried about shipments. `kuaidi100.ts` and `kdniao.ts` are examples. */
export type CarrierDriver = {
  readonly name: string;
  /** Further names that the settings of the router accept. */
  readonly aliases: readonly string[];
  /** The codes at the service, by the codes of `companies.ts`. Shipments of other companies are not queried there. */
  readonly companyCodes: Readonly<Record<string, string>>;
  readonly apiUrl: Setting<string>;
  /** The settings of its account. It is not used while one of them is empty. */
  readonly account: readonly Setting<string>[];
  /** The body of the POST request, with its signature. */
  request(
    settings: SettingReader,
    query: CarrierQuery,
  ): { readonly headers: Record<string, string>; readonly body: string };
  /** `answer` is the parsed JSON. An answer about another shipment is garbage. Never throws. */
  read(answer: unknown, trackingNo: string): CarrierAnswer;
};

/** The carrier services that the router can use. */
export const carriers = defineRegistry<CarrierDriver>('fulfilment.carriers', { isStatic: true });

/** The settings of an account that are not set. */
export const missingAccount = (driver: CarrierDriver, settings: SettingReader): string[] =>
  [driver.apiUrl, ...driver.account].filter((one) => settings.get(one) === '').map(({ key }) => key);

/** The settings of these drivers. */
export const driverSettings = (drivers: readonly CarrierDriver[]): Setting[] =>
  drivers.flatMap(({ apiUrl, account }) => [apiUrl, ...account]);

export const apiUrlRule = { en: 'must be an http or https address', 'zh-CN': '须为 http(s) 地址' };
export const isApiUrl = (text: string): boolean => text === '' || isHttpAddress(text);

/** The headers and the body of an HTML form. */
export const formRequest = (fields: Record<string, string>) => ({
  headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
  body: new URLSearchParams(fields).toString(),
});
