import { inflateSync } from 'node:zlib';
import OpenAI, { toFile } from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { demoImageKey, type ImageSimulator, openImageSimulator, type SimulatorOptions } from './simulator.ts';

let simulator: ImageSimulator | undefined;
afterEach(() => simulator?.close());
async function open(options: SimulatorOptions = {}, apiKey = demoImageKey) {
  simulator = await openImageSimulator(options);
  const { images } = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey, maxRetries: 0, timeout: 1_000 });
  return { simulator, images };
}
/** The sides in the header of a PNG. Its pixels are read too. */
function sides(png: Buffer): [number, number] {
  const start = png.indexOf('IDAT');
  inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)));
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

describe('the simulated service', () => {
  test('draws as many pictures as asked, of the asked size, the same for the same prompt', async () => {
    const { images } = await open();
    const draw = async (prompt: string) =>
      (await images.generate({ model: 'm', prompt, n: 2, size: '750x1000' })).data!.map(({ b64_json }) => b64_json!);
    const mugs = await draw('a mug');
    expect(mugs.map((text) => sides(Buffer.from(text, 'base64')))).toEqual(Array(2).fill([750, 1000]));
    expect(mugs[0]).not.toBe(mugs[1]);
    expect(await draw('a mug')).toEqual(mugs);
    expect(await draw('a bowl')).not.toEqual(mugs);
  });

  test('answers addresses with that option, and takes a reference picture', async () => {
    const { simulator, images } = await open({ answers: 'url' });
    const image = await toFile(Buffer.alloc(2_000), 'mug.png', { type: 'image/png' });
    const { data } = await images.edit({ model: 'm', prompt: 'on a table — 桌上', image, size: '1024x1024' });
    const response = await fetch(data![0]!.url!);
    expect(sides(Buffer.from(await response.arrayBuffer()))).toEqual([1024, 1024]);
    expect(simulator.orders()).toMatchObject([{ prompt: 'on a table — 桌上', hasImage: true }]);
  });

  test('refuses another key', async () => {
    const { images } = await open({}, 'sk-other');
    await expect(images.generate({ prompt: 'a mug' })).rejects.toMatchObject({ status: 401 });
  });

  test('has the faults of its plan, then those of its rates', async () => {
    const { simulator, images } = await open({ faults: { error: 0.5 } });
    simulator.plan('rate_limit', 'policy', 'redirect', 'broken', 'hang', null);
    const outcomes: unknown[] = [];
    for (let n = 0; n < 8; n += 1)
      outcomes.push(
        await images.generate({ prompt: 'a mug' }).then(
          () => 'drawn',
          (error) => error.status ?? 'failed',
        ),
      );
    expect(outcomes).toEqual([429, 400, 'failed', 'failed', 'failed', 'drawn', 'drawn', 500]);
    expect(simulator.counters()).toMatchObject({ requests: 8, faults: { rate_limit: 1, hang: 1, error: 1 } });
    expect(() => simulator.change({ faults: { error: 0.6, hang: 0.6 } })).toThrow('more than 1');
  });
});
