import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { afterEach, describe, expect, test } from 'vitest';
import { type CarrierSimulator, demoAccounts, openCarrierSimulator, type SimulatorOptions } from './simulator.ts';

let simulator: CarrierSimulator | undefined;
let child: ChildProcess | undefined;
afterEach(async () => {
  await simulator?.close();
  child?.kill('SIGKILL');
});
const open = async (options: SimulatorOptions = {}) => {
  simulator = await openCarrierSimulator(options);
  return simulator;
};

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const post = async (url: string, form: Record<string, string>) => {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const { customer, key } = demoAccounts.kuaidi100;
const { ebusinessId, apiKey } = demoAccounts.kdniao;

/** A query as a shop signs it, by the rules of the services. */
function kuaidi100(of: CarrierSimulator, num: string, { com = 'zhongtong', phone = '', secret = key } = {}) {
  const param = JSON.stringify({ com, num, phone, resultv2: '1' });
  return post(of.apiUrl('kuaidi100'), { customer, param, sign: md5(param + secret + customer).toUpperCase() });
}
function kdniao(of: CarrierSimulator, no: string, { secret = apiKey, type = '1002' } = {}) {
  const RequestData = JSON.stringify({ ShipperCode: 'ZTO', LogisticCode: no });
  const DataSign = Buffer.from(md5(RequestData + secret)).toString('base64');
  return post(of.apiUrl('kdniao'), {
    ...{ RequestData, DataSign, EBusinessID: ebusinessId, RequestType: type, DataType: '2' },
  });
}

describe('the simulated services', () => {
  test('answer signed queries with the recordings, one after the other, and refuse others', async () => {
    const of = await open();
    const states = [];
    for (let n = 0; n < 4; n += 1) states.push((await kuaidi100(of, 'X1')).body.state);
    expect(states).toEqual(['0', '5', '3', '3']);
    expect((await kuaidi100(of, 'X2')).body).toMatchObject({ nu: 'X2', com: 'zhongtong', state: '0' });
    expect((await kdniao(of, 'ZT2000000000001')).body).toMatchObject({ Success: true, State: '1', ShipperCode: 'ZTO' });
    expect((await kuaidi100(of, 'X1', { secret: 'other' })).body).toMatchObject({ result: false, returnCode: '503' });
    expect((await kdniao(of, 'X1', { secret: 'other' })).body).toMatchObject({ Success: false });
    expect((await kdniao(of, 'X1', { type: '8001' })).body).toMatchObject({ Success: false });
    expect((await post(of.apiUrl('kdniao'), { RequestData: 'x'.repeat(100_000) })).status).toBe(413);
    const seen = { X1: 4, X2: 1, ZT2000000000001: 1 };
    expect(of.counters()).toMatchObject({ queries: { kuaidi100: 5, kdniao: 1 }, refused: 4, seen });
  });

  test('know a shipment of SF only with a phone number', async () => {
    const of = await open();
    expect((await kuaidi100(of, 'SF1', { com: 'shunfeng' })).body).toMatchObject({ result: false });
    expect((await kuaidi100(of, 'SF1', { com: 'shunfeng', phone: '13800000000' })).body).toMatchObject({
      status: '200',
    });
  });

  test('make the faults of their rates, of the chosen service only', async () => {
    const of = await open({ errorRate: 0.25, faultsOf: ['kuaidi100'] });
    for (let n = 0; n < 8; n += 1) await kuaidi100(of, 'X1');
    for (let n = 0; n < 8; n += 1) expect((await kdniao(of, 'X1')).status).toBe(200);
    expect(of.counters().faults).toMatchObject({ error: 2, refuse: 0 });
    of.change({ errorRate: 0, regressRate: 1 });
    expect((await kuaidi100(of, 'X1')).body.state).toBe('0');
    expect(() => of.change({ errorRate: 0.6, timeoutRate: 0.6 })).toThrow('more than 1');
  });
});

test('tradepost carriers simulate prints the settings for a shop and ends on SIGTERM', async () => {
  const script = join(import.meta.dirname, '../../bin/tradepost.ts');
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
  const started = spawn(process.execPath, [script, 'carriers', 'simulate', '--port', '0', '--latency-ms', '0'], {
    env,
  });
  child = started;
  let output = '';
  for (const stream of [started.stdout, started.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  await expect.poll(() => output, { timeout: 60_000 }).toContain('polling_enabled true');
  const api = /logistics_kuaidi100\.api_url (\S+)/.exec(output)![1]!;
  const of = { apiUrl: () => api } as unknown as CarrierSimulator;
  expect((await kuaidi100(of, 'X1')).body).toMatchObject({ status: '200' });
  started.kill('SIGTERM');
  expect(await new Promise((resolve) => started.on('close', resolve))).toBe(0);
  expect(output).toContain('queries: kuaidi100 1, kdniao 0; shipments 1');
});

test('wrong usage ends with exit code 2 and the reason', async () => {
  for (const [args, reason] of [
    [['--timeout-rate', '2'], 'a share from 0 to 1'],
    [['--timeout-rate', '0.7', '--error-rate', '0.7'], 'more than 1'],
    [['--port', '99999'], '--port'],
  ] as const) {
    const { code, stderr } = await runCommandInProcess(['carriers', 'simulate', ...args]);
    expect([args, code]).toEqual([args, 2]);
    expect(stderr).toContain(reason);
  }
});
