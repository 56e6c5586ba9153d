import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type ServiceName, serviceNames } from './behaviour.ts';

/** Recorded answers about one shipment, from its first to its last state. */
const exchangeSchema = z.strictObject({
  service: z.enum(serviceNames),
  about: z.string(),
  tracking_no: z.string(),
  /** True: shipments without a recording of their own get these answers, with their numbers. */
  for_others: z.boolean().default(false),
  answers: z.array(z.record(z.string(), z.unknown())).min(1),
});
type Exchange = z.infer<typeof exchangeSchema>;

const folder = join(import.meta.dirname, '../../fixtures/carriers');

/** Reads the recordings of `fixtures/carriers`. */
export async function readExchanges(): Promise<Exchange[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (name) => exchangeSchema.parse(JSON.parse(await readFile(join(folder, name), 'utf8')))),
  );
}

/** The recording for a shipment. */
export const exchangeFor = (exchanges: readonly Exchange[], service: ServiceName, trackingNo: string): Exchange => {
  const ofService = exchanges.filter((one) => one.service === service);
  const found = ofService.find((one) => one.tracking_no === trackingNo) ?? ofService.find((one) => one.for_others);
  if (!found) throw new Error(`fixtures/carriers has no recording for other shipments of ${service}`);
  return found;
};
