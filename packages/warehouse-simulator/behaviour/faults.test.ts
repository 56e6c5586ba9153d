import { afterEach, describe, expect, test } from 'vitest';
import { openTested, type Tested } from '../test-shop.ts';

let tested: Tested;
const open = async (options: Parameters<typeof openTested>[0] = {}) => {
  tested = await openTested(options);
  return tested;
};
afterEach(() => tested.close());

const items = [[1, 2]] as const;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `O${index}`);

describe.each([
  ['before', 0, undefined, [1_000_000, 2]],
  ['after', 1, 'reserved', [1_000_000, 2]],
] as const)('a fault %s the work', (_when, failAfter, state, afterwards) => {
  const openWith = async (options: Parameters<typeof openTested>[0]) => open({ failAfter, ...options });
  /** Without the fault the same delivery succeeds, and the work is done once. */
  const recovers = async () => {
    expect(tested.state('A')).toBe(state);
    tested.simulator.change({ failRate: 0, hangRate: 0, htmlRate: 0, stringCodeRate: 0, closeRate: 0 });
    expect((await tested.reserve('A', items)).code).toBe(0);
    const { on_hand, reserved } = tested.sku(1)!;
    expect([on_hand, reserved]).toEqual(afterwards);
    expect(tested.simulator.counters().repeats).toBe(1);
  };

  test('a failure code', async () => {
    const { reserve, simulator } = await openWith({ failRate: 1, failCodes: [1003] });
    expect(await reserve('A', items)).toMatchObject({
      status: 200,
      code: 1003,
      body: { request_id: 'order:A:reserve' },
    });
    expect(simulator.counters().faults.fail).toBe(1);
    await recovers();
  });

  test('no answer until the client gives up', async () => {
    const { reserve } = await openWith({ hangRate: 1 });
    await expect(reserve('A', items, { signal: AbortSignal.timeout(150) })).rejects.toThrow(/time/i);
    await recovers();
  });

  test('a cut connection', async () => {
    const { reserve } = await openWith({ closeRate: 1 });
    await expect(reserve('A', items)).rejects.toThrow();
    await recovers();
  });

  test('an HTML page', async () => {
    const { reserve } = await openWith({ htmlRate: 1 });
    expect(await reserve('A', items)).toMatchObject({ type: 'text/html', code: undefined });
    await recovers();
  });

  test('the code "0" as a text', async () => {
    const { reserve } = await openWith({ stringCodeRate: 1 });
    expect((await reserve('A', items)).code).toBe('0');
    await recovers();
  });
});

test('HTML pages have HTTP 200 or 502', async () => {
  const { reserve } = await open({ htmlRate: 1 });
  const answers = await Promise.all(numbers(30).map((no) => reserve(no, items)));
  expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([200, 502]);
});

test('after a final failure code the action is never done, also when it is delivered again', async () => {
  const { reserve, simulator } = await open({ failRate: 1, failCodes: [4004], failAfter: 1 });
  expect((await reserve('A', items)).code).toBe(4004);
  simulator.change({ failRate: 0 });
  expect((await reserve('A', items)).code).toBe(4004);
  expect([tested.state('A'), tested.sku(1)]).toEqual([undefined, undefined]);
});

test('an action that is done never gets a final failure code', async () => {
  const { reserve, simulator } = await open();
  await reserve('A', items);
  simulator.change({ failRate: 1, failCodes: [4004] });
  expect((await reserve('A', items)).code).toBe(0);
});

test('rates are shares of the calls, and half of the faults happen after the work', async () => {
  const { reserve, simulator } = await open({ failRate: 0.3, seed: 7 });
  const codes = (await Promise.all(numbers(400).map((no) => reserve(no, items)))).map(({ code }) => code);
  const failed = codes.filter((code) => code !== 0).length;
  expect(failed).toBeGreaterThan(80);
  expect(failed).toBeLessThan(160);
  expect(new Set(codes).size).toBe(8);
  const done = simulator.ledger().documents.length - (400 - failed);
  expect(done).toBeGreaterThan(failed * 0.25);
  expect(done).toBeLessThan(failed * 0.75);
});

test('the same seed gives the same faults, another seed gives other faults', async () => {
  const run = async (seed: number) => {
    const { reserve, close } = await open({ failRate: 0.3, htmlRate: 0.2, seed });
    const answers: unknown[] = [];
    for (const no of numbers(40)) answers.push((await reserve(no, items)).code ?? 'page');
    await close();
    return answers;
  };
  const first = await run(5);
  expect(await run(5)).toEqual(first);
  expect(await run(6)).not.toEqual(first);
});

test('faults can be limited to some calls, and to a number per action', async () => {
  const { reserve, confirm } = await open({ failRate: 1, failAfter: 0, faultCalls: ['confirm'], faultsPerKey: 2 });
  expect((await reserve('A', items)).code).toBe(0);
  const codes = [];
  for (let i = 0; i < 3; i += 1) codes.push((await confirm('A')).code !== 0);
  expect(codes).toEqual([true, true, false]);
});

test('delayed actions are done late, also when the client has disconnected', async () => {
  const { reserve, simulator } = await open({ delayMs: 300, jitterMs: 50 });
  await expect(reserve('A', items, { signal: AbortSignal.timeout(50) })).rejects.toThrow(/time/i);
  expect(tested.state('A')).toBeUndefined();
  await expect.poll(() => tested.state('A')).toBe('reserved');
  expect(simulator.counters().calls).toBe(1);
});

test('the query of sellable stock has faults too', async () => {
  const { call } = await open({ failRate: 1, failCodes: [5002] });
  expect((await call('/stock/sellable', { sku_ids: [1] })).code).toBe(5002);
});

describe('behaviour', () => {
  test('that is not valid is refused with the name of the option, at start and later', async () => {
    await expect(openTested({ failRate: 1.5 })).rejects.toThrow('failRate');
    await expect(openTested({ failRate: 0.6, hangRate: 0.6 })).rejects.toThrow('more than 1');
    await expect(openTested({ callbacks: 'async' })).rejects.toThrow('callbackUrl');
    await expect(openTested({ appSecret: '' })).rejects.toThrow('appSecret');
    const { simulator } = await open({ failRate: 0.5 });
    expect(() => simulator.change({ hangRate: 0.6 })).toThrow('more than 1');
    expect(simulator.behaviour()).toMatchObject({ failRate: 0.5, hangRate: 0 });
  });

  const control = (body: string, type = 'application/json') =>
    fetch(`${tested.simulator.url}/_control`, { method: 'POST', body, headers: { 'content-type': type } });

  test('is changed over /_control; options that are not given stay', async () => {
    const { simulator } = await open({ control: true, delayMs: 3 });
    const answer = await control('{"failRate":1,"failCodes":[2001],"stocks":{"7":4}}');
    expect(await answer.json()).toMatchObject({ failRate: 1, delayMs: 3 });
    expect((await tested.reserve('A', items)).code).toBe(2001);
    expect(tested.sku(7)?.on_hand).toBe(4);
    for (const wrong of ['{"failrate":1}', '{"failRate":"1"}', '{"stocks":{"a":1}}', '{', '[]x']) {
      const refused = await control(wrong);
      expect([wrong, refused.status]).toEqual([wrong, 400]);
    }
    expect((await control('{}', 'text/plain')).status).toBe(415);
    expect(simulator.behaviour().failRate).toBe(1);
  });

  test('can not be changed over the network without the option control', async () => {
    await open();
    expect((await control('{"failRate":1}')).status).toBe(404);
    expect(tested.simulator.behaviour().failRate).toBe(0);
  });
});

test('close does not wait for calls without answers, delays or owed callbacks', async () => {
  const { reserve, close, simulator } = await open({ hangRate: 1, failAfter: 1 });
  const hanging = reserve('A', items).catch(() => 'cut');
  await expect.poll(() => tested.state('A')).toBe('reserved');
  simulator.change({ hangRate: 0, delayMs: 60_000, callbacks: 'async', callbackUrl: 'http://127.0.0.1:9/' });
  const delayed = reserve('B', items).catch(() => 'cut');
  await expect.poll(() => simulator.counters().calls).toBe(2);
  await close();
  expect(await Promise.all([hanging, delayed])).toEqual(['cut', 'cut']);
});
