import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declaredBy, findingsOf, type Module, settingsIn } from '@tradepost/module';
import { type Setting, setting } from '@tradepost/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fulfilmentModule } from '../../module.ts';
import { declareCarriers } from '../carrier-part.ts';
import { queryShipment } from '../sync/query-shipment.ts';
import { trackHash } from '../sync/track-hash.ts';
import { type CarrierAnswer, type CarrierDriver, type CarrierQuery, carriers } from './driver.ts';
import { kdniao, kdniaoSign } from './kdniao.ts';
import { kuaidi100, kuaidi100Sign } from './kuaidi100.ts';
import { eventTime } from './nodes.ts';

const values: Record<string, string> = {
  'logistics_kuaidi100.customer': 'CUST-1',
  'logistics_kuaidi100.key': 'key-1',
  'logistics_kdniao.ebusiness_id': '1000001',
  'logistics_kdniao.api_key': 'api-key-1',
};
const settings = { get: <T>(of: Setting<T>) => (values[of.key] ?? of.fallback) as T };
const formOf = (driver: CarrierDriver, query: Parameters<CarrierDriver['request']>[1]) => {
  const { headers, body } = driver.request(settings, query);
  expect(headers['Content-Type']).toMatch(/^application\/x-www-form-urlencoded/);
  return Object.fromEntries(new URLSearchParams(body));
};

test('the doctor names the settings that a driver of another module declares', () => {
  const token = setting('logistics_drone.token', z.string(), '', 'token of the drones');
  const drone: CarrierDriver = { ...kdniao, name: 'drone', aliases: [], account: [token] };
  const modules: Module[] = [fulfilmentModule, { name: 'drones', entries: [carriers.add(drone)] }];
  const [check] = declaredBy(modules, 'doctorChecks').filter(({ area }) => area.name === 'carriers');
  const found = (given: object) => {
    const chosen = { 'logistics_router.primary_driver': 'drone', 'logistics_router.secondary_driver': '', ...given };
    const report = findingsOf('carriers');
    const facts = { settings: settingsIn({ settings: chosen }, [], declaredBy(modules, 'settings')) };
    check!.check(facts as never, report);
    return report.findings.map(({ level, what }) => `${level}: ${what}`);
  };
  expect(found({ 'logistics_router.polling_enabled': true })).toEqual([
    'error: polling is on, and not set: logistics_drone.token',
  ]);
  expect(found({ 'logistics_drone.token': 'key' })).toEqual(['ok: carrier services in use: drone; polling is off']);
});

describe('a query is signed as the service computes it', () => {
  test('kuaidi100: upper-case MD5 over param, key and customer', () => {
    // printf '%s' '{"com":"yunda","num":"3950055201640","phone":"","resultv2":"1"}key-1CUST-1' | md5sum
    const sign = '244E2FF9D73B1AC3B9C32F1753388F72';
    const form = formOf(kuaidi100, { company: 'yunda', tracking_no: '3950055201640', phone: '' });
    const param = '{"com":"yunda","num":"3950055201640","phone":"","resultv2":"1"}';
    expect(form).toEqual({ customer: 'CUST-1', sign, param });
    expect(kuaidi100Sign(param, { key: 'key-2', customer: 'CUST-1' })).not.toBe(sign);
  });

  test('kdniao: Base64 of the lower-case MD5 over the data and the key, encoded once', () => {
    // printf '%s' '{"ShipperCode":"SF","LogisticCode":"SF1","CustomerName":"0000"}api-key-1' | md5sum, then base64
    const DataSign = 'ZTljMjdhYjk0ZTkwZjY5ZjVhY2ZjMTY2MWFmZTA1OTU=';
    const form = formOf(kdniao, { company: 'SF', tracking_no: 'SF1', phone: '138 0000-0000' });
    const RequestData = '{"ShipperCode":"SF","LogisticCode":"SF1","CustomerName":"0000"}';
    expect(form).toEqual({ RequestData, EBusinessID: '1000001', RequestType: '1002', DataSign, DataType: '2' });
    expect(kdniaoSign(RequestData, 'api-key-2')).not.toBe(DataSign);
    const { body } = kdniao.request(settings, { company: 'SF', tracking_no: 'SF1', phone: '' });
    expect(body).toContain('RequestData=%7B%22ShipperCode%22%3A%22SF%22');
    expect(body).not.toContain('CustomerName');
  });
});

describe('the state of an answer', () => {
  test.each([
    ['0', 'in_transit'],
    ['1', 'in_transit'],
    ['5', 'in_transit'],
    ['2', 'exception'],
    ['4', 'exception'],
    ['3', 'signed'],
    ['6', 'shipped'],
    ['14', 'shipped'],
    ['', 'shipped'],
  ])('%s of kuaidi100 is %s', (state, status) => {
    expect(kuaidi100.read({ status: '200', state, data: [] }, 'X1')).toMatchObject({ kind: 'found', status });
  });

  test.each([
    ['2', 'in_transit'],
    ['3', 'signed'],
    ['4', 'exception'],
    ['0', 'shipped'],
    ['1', 'shipped'],
    ['', 'shipped'],
  ])('%s of kdniao is %s', (State, status) => {
    expect(kdniao.read({ Success: true, State, Traces: [] }, 'X1')).toMatchObject({ kind: 'found', status });
  });

  test('a number instead of a text is understood, and so is the status ok', () => {
    expect(kuaidi100.read({ status: 200, state: 3, data: [] }, 'X1')).toMatchObject({
      kind: 'found',
      status: 'signed',
    });
    expect(kuaidi100.read({ status: 'ok', state: '3', data: [] }, 'X1')).toMatchObject({
      kind: 'found',
      status: 'signed',
    });
    expect(kdniao.read({ Success: true, State: 3 }, 'X1')).toMatchObject({
      kind: 'found',
      status: 'signed',
      nodes: [],
    });
  });
});

describe('the events of an answer', () => {
  const found = (answer: CarrierAnswer) => {
    if (answer.kind !== 'found') throw new Error(answer.reason);
    return answer;
  };
  test('are newest first, in the zone of the carriers, whatever their order is', () => {
    const [a, b] = [
      { ftime: '2024-03-01 09:30:00', time: '2024-03-01 09:00:00', context: '揽收', location: '深圳', status: '揽收' },
      { time: '2024-03-02 10:00:00', context: ' 已签收\u0000\n', status: '签收', statusCode: '301' },
    ];
    for (const data of [
      [a, b],
      [b, a],
    ]) {
      const { nodes } = found(kuaidi100.read({ status: '200', state: '3', data }, 'X1'));
      expect(nodes.map(({ event_time }) => event_time.toISOString())).toEqual([
        '2024-03-02T02:00:00.000Z',
        '2024-03-01T01:30:00.000Z',
      ]);
      expect(nodes[0]).toMatchObject({ status_code: '301', status_text: '已签收', location: '' });
      // jsonb can not store a NUL.
      expect(nodes[0]!.raw_payload).toEqual({});
      expect(nodes[1]).toMatchObject({ status_code: '揽收', status_text: '揽收', location: '深圳', raw_payload: a });
    }
  });

  test('without a time, or of another type, are left out; huge ones are cut', () => {
    const entries = [
      null,
      7,
      'text',
      {},
      { AcceptTime: 'soon' },
      { AcceptTime: '2024-02-30 10:00:00' },
      { AcceptTime: '2999-01-01 10:00:00' },
      { AcceptTime: '1970-01-01 08:00:00' },
      { AcceptTime: '0001-01-01 00:00:00' },
    ];
    const long = { AcceptTime: '2024/3/1 9:05:00', AcceptStation: '长'.repeat(9_000), Location: { city: 'x' } };
    const { nodes } = found(kdniao.read({ Success: true, State: '2', Traces: [...entries, long] }, 'X1'));
    expect(nodes).toHaveLength(1);
    expect(nodes[0]).toMatchObject({ status_text: '长'.repeat(500), location: '', raw_payload: {} });
    expect(nodes[0]!.event_time.toISOString()).toBe('2024-03-01T01:05:00.000Z');
    const many = Array.from({ length: 5_000 }, (_, n) => ({
      AcceptTime: `2024-03-01 10:${String(n % 60).padStart(2, '0')}:00`,
      AcceptStation: String(n),
    }));
    expect(found(kdniao.read({ Success: true, State: '2', Traces: many }, 'X1')).nodes).toHaveLength(200);
  });

  test.each([
    ['2024-03-02 11:38:57', '2024-03-02T03:38:57.000Z'],
    ['2024/03/02 11:38:57', '2024-03-02T03:38:57.000Z'],
    ['2024-3-2 1:08', '2024-03-01T17:08:00.000Z'],
    ['', undefined],
    ['0000-00-00 00:00:00', undefined],
    ['2024-13-01 00:00:00', undefined],
  ])('the time %s is %s', (text, iso) => {
    expect(eventTime(text)?.toISOString()).toBe(iso);
  });

  test('a hash identifies an event', () => {
    const node = { status_code: ' 301', status_text: '已签收 ', location: '杭州' };
    // printf '%s' '17|1772415537|杭州|301|已签收' | sha1sum
    const hash = trackHash(17, { ...node, event_time: new Date(1_772_415_537_900) });
    expect(hash).toBe('34936371a036d697c71f6be2104b8bd4b572c21d');
    expect(trackHash(18, { ...node, event_time: new Date(1_772_415_537_900) })).not.toBe(hash);
  });
});

test.each([
  ['refused', kuaidi100, { result: false, returnCode: '500', message: '查询无结果' }, /^500 查询无结果$/],
  ['refused', kuaidi100, { status: '400', message: 'no' }, /^400 no$/],
  ['refused', kdniao, { Success: false, Reason: '非法参数' }, /非法参数/],
  ['refused', kdniao, { Success: false }, /without a reason/],
  ['garbage', kuaidi100, {}, /no status/],
  ['garbage', kuaidi100, [], /not an object|no status/],
  ['garbage', kuaidi100, 'ok', /not an object/],
  ['garbage', kuaidi100, null, /not an object/],
  ['garbage', kuaidi100, { status: { code: '200' } }, /no status/],
  ['garbage', kdniao, {}, /no field Success/],
  ['garbage', kdniao, { Success: 'true' }, /no field Success/],
  ['garbage', kdniao, undefined, /not an object/],
  ['garbage', kuaidi100, { status: '200', nu: 'X2', state: '3', data: [] }, /another shipment/],
  ['garbage', kdniao, { Success: true, LogisticCode: 'X2', State: '3' }, /another shipment/],
] as const)('an answer is %s (%#)', (kind, driver, answer, reason) => {
  expect(driver.read(answer, 'X1')).toEqual({ kind, reason: expect.stringMatching(reason) });
});

test('every recorded answer is understood', () => {
  const folder = join(import.meta.dirname, '../../../../fixtures/carriers');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  expect(files.length).toBeGreaterThan(6);
  for (const name of files) {
    const { service, tracking_no, answers } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const answer of answers as Record<string, unknown>[]) {
      const read = (service === 'kuaidi100' ? kuaidi100 : kdniao).read(answer, tracking_no);
      const entries = (answer.data ?? answer.Traces) as unknown[] | undefined;
      if (entries) expect([name, read]).toMatchObject([name, { kind: 'found' }]);
      if (read.kind === 'found') expect([name, read.nodes.length]).toEqual([name, entries!.length]);
    }
  }
});

test('the doctor names the service without an account, how to use one service, and a simulated one', async () => {
  const given: Record<string, string> = {
    'logistics_kuaidi100.api_url': 'http://127.0.0.1:9092/poll/query.do',
    'logistics_kuaidi100.customer': 'CUST-1',
    'logistics_kuaidi100.key': 'key-1',
  };
  const facts = { settings: { get: <T>(of: Setting<T>) => (given[of.key] ?? of.fallback) as T } } as never;
  const found = findingsOf('carriers');
  // The drivers of all modules are checked, not only those of this package.
  const entries = () => [kuaidi100, kdniao] as never;
  const { doctorChecks = [] } = declareCarriers(entries, entries);
  for (const { check } of doctorChecks) await check(facts, found);
  expect(found.findings.map(({ level, what, todo }) => `${level}: ${what} -> ${todo}`)).toEqual([
    expect.stringMatching(
      /^warning: only kuaidi100 is queried; .* logistics_kdniao\.ebusiness_id.* logistics_router\.secondary_driver '""'$/,
    ),
    expect.stringMatching(/^error: logistics_kuaidi100\.api_url is http:\/\/127\.0\.0\.1:9092\/.* simulated tracks/),
  ]);
});

test('a driver of another package is queried with its own codes of the companies', async () => {
  const other: CarrierDriver = { ...kdniao, name: 'other', companyCodes: { SF: 'sf-other' } };
  const queries: CarrierQuery[] = [];
  const client = {
    async query(_driver: CarrierDriver, query: CarrierQuery) {
      queries.push(query);
      return { kind: 'found', status: 'shipped', nodes: [], ms: 1 } as const;
    },
    close: async () => {},
  };
  const router = { driversFor: () => [other] } as never;
  const shipment = {
    id: 1,
    company: 'SF',
    tracking_no: 'SF1',
    channel_provider: '',
    claimed_until: new Date(),
  } as never;
  const result = await queryShipment({ router, client }, shipment, '13800000000', { byHand: true });
  expect(result).toMatchObject({ kind: 'found', provider: 'other' });
  expect(queries).toEqual([{ company: 'sf-other', tracking_no: 'SF1', phone: '13800000000' }]);
});
