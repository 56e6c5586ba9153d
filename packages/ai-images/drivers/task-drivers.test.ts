import { type ImageSimulator, openImageSimulator } from '@tradepost/image-simulator';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ImageDriver, PictureRequest, ServiceModel } from './driver.ts';
import { hunyuanDriver } from './hunyuan-driver.ts';
import { openServiceNetwork } from './service-network.ts';
import { tongyiDriver } from './tongyi-driver.ts';

/** Drivers of services where a request starts a task, and its end is asked for. */
let simulator: ImageSimulator;
const network = openServiceNetwork(['127.0.0.1']);
beforeAll(async () => {
  simulator = await openImageSimulator();
});
afterAll(async () => {
  await simulator?.close();
  await network.close();
});

const picture = Buffer.from('a picture');
const asked: PictureRequest = {
  ...{ prompt: 'an enamel mug', negPrompt: 'text', width: 750, height: 1000, count: 2, style: 'ecommerce' },
  refImage: null,
};
const drivers: ImageDriver[] = [tongyiDriver, hunyuanDriver];

describe.each(drivers)('the driver $name', (driver) => {
  const model = (): ServiceModel => ({
    ...{
      endpoint: simulator.models[driver.name]!.endpoint,
      apiKey: simulator.models[driver.name]!.key,
      model: driver.model,
      sizes: [],
      picturesPerRequest: null,
    },
    ...{ responseFormat: null, options: {} },
  });
  const draw = (
    fields: Partial<PictureRequest> = {},
    { timeoutMs = 5_000, ...of }: Partial<ServiceModel> & { timeoutMs?: number } = {},
  ) =>
    driver.generate(
      { ...model(), ...of },
      { ...asked, ...fields },
      { fetch: network.fetch, signal: AbortSignal.timeout(timeoutMs), pauseMs: 1 },
    );
  const fails = (...of: Parameters<typeof draw>) =>
    draw(...of).then(
      () => 'drawn',
      (error: unknown) => error,
    );
  let requests: number;
  beforeEach(() => {
    requests = simulator.orders().length;
  });

  test('submits a task, asks until it is done, and answers the addresses of the pictures', async () => {
    const pictures = (await draw()) as { url: string }[];
    expect(pictures).toHaveLength(2);
    const png = Buffer.from(await (await fetch(pictures[0]!.url)).arrayBuffer());
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([
      simulator.orders().at(-1)!.width,
      simulator.orders().at(-1)!.height,
    ]);
    // The ratio is that of the request.
    expect(png.readUInt32BE(16) / png.readUInt32BE(20)).toBeCloseTo(0.75, 1);
    expect(simulator.orders().at(-1)).toMatchObject({ count: 2, hasImage: false });
    expect(simulator.orders().at(-1)!.prompt).toContain('an enamel mug');
  });

  test('asks in several tasks for more pictures than one has, and sends a reference image', async () => {
    expect(await draw({ count: 6, refImage: { bytes: picture, mime: 'image/png' } })).toHaveLength(6);
    const orders = simulator.orders().slice(requests);
    expect(orders.map(({ count, hasImage }) => [count, hasImage])).toEqual([
      [4, true],
      [2, true],
    ]);
  });

  test.each([
    ['policy', true, 'refused'],
    ['task_policy', true, 'refused'],
    ['error', false, 'unavailable'],
    ['task_failed', false, 'unavailable'],
    ['rate_limit', false, 'unavailable'],
    ['broken', false, 'wrong_answer'],
    ['empty', false, 'wrong_answer'],
    ['redirect', true, 'wrong_answer'],
  ] as const)('%s: permanent %s', async (fault, permanent, failure) => {
    simulator.plan(fault);
    expect(await fails()).toMatchObject({
      name: 'ServiceError',
      failure,
      permanent,
      message: expect.stringMatching(/./),
    });
  });

  test('starts no second task when a question has no answer', async () => {
    simulator.plan('task_busy');
    expect(await draw()).toHaveLength(2);
    expect(simulator.orders().length).toBe(requests + 1);
  });

  test('ends with the attempt when the task does not end', async () => {
    simulator.plan('task_endless');
    const failure = { failure: 'unavailable', permanent: false, message: 'no answer in time' };
    expect(await fails({}, { timeoutMs: 200 })).toMatchObject(failure);
  });

  test('is refused with a wrong key', async () => {
    const { refused } = simulator.counters();
    expect(await fails({}, { apiKey: model().apiKey.replace(/...$/, 'xyz') })).toMatchObject({
      failure: 'refused',
      permanent: true,
    });
    expect(simulator.counters().refused).toBe(refused + 1);
  });
});

test('a key of hunyuan that is not of two parts is refused without a request', async () => {
  const model = { endpoint: 'http://images.invalid', apiKey: 'AKIDonly', model: '', sizes: [], options: {} };
  const io = { fetch: network.fetch, signal: AbortSignal.timeout(5_000) };
  const of = { ...model, picturesPerRequest: null, responseFormat: null };
  await expect(hunyuanDriver.generate(of, asked, io)).rejects.toThrow('SecretId:SecretKey');
});
