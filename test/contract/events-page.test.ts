import { readFile } from 'node:fs/promises';
import { modules } from '@tradepost/app';
import { expect, test } from 'vitest';
import { currentEventsPage, eventsFile } from '../../packages/app/events-page/generate.ts';
import { signedHeaders } from '../../packages/webhooks/deliveries/signature.ts';
import { wireDataOf } from '../../packages/webhooks/deliveries/wire-data.ts';
import { newSecret } from '../../packages/webhooks/endpoints/endpoint-secrets.ts';
import { factsOf } from '../../packages/webhooks/events-page/facts.ts';

const page = await readFile(eventsFile, 'utf8').catch(() => '');
const kinds = modules.flatMap(({ events = [] }) => events);
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``, 'g'))].map(([, text]) => text!);

test('docs/EVENTS.md agrees with the events of the modules', () => {
  expect(page === currentEventsPage(), 'an event changed: run `npm run generate:events` and commit the page').toBe(
    true,
  );
  expect(page.match(/^## .+$/gm)?.slice(1)).toEqual(kinds.map(({ name }) => `## ${name}`));
});

test.each(kinds.map((kind) => [kind.name, kind] as const))('the example of %s is a delivery of it', (name, kind) => {
  const example = blocks('json')
    .map((text) => JSON.parse(text))
    .find(({ type }) => type === name);
  const schemas = new Map(factsOf(kind));
  const facts = Object.fromEntries(
    Object.entries(example.data).map(([key, value]) => [
      key,
      schemas.get(key)?.minor_units ? Number(value) * 100 : value,
    ]),
  );
  expect(kind.data.parse(facts)).toEqual(facts);
  expect(wireDataOf([kind])(name, facts)).toEqual(example.data);
});

test('a fact that is an amount says so, so that receivers get it with two decimals', () => {
  const amounts = kinds.flatMap((kind) =>
    factsOf(kind)
      .filter(([name, fact]) => fact.minor_units || /amount|price|fee|minor/.test(`${name} ${fact.description}`))
      .map(([name, { minor_units: isAmount = false }]) => ({ kind: kind.name, name, isAmount })),
  );
  expect(amounts.length).toBeGreaterThan(0);
  expect(amounts.filter(({ isAmount }) => !isAmount)).toEqual([]);
});

test('the code of the page accepts what the shop sends, and nothing else', async () => {
  const [code] = blocks('js');
  const { verifiedEvent } = await import(`data:text/javascript,${encodeURIComponent(code!)}`);
  const [secret, other] = [newSecret(), newSecret()];
  const body = JSON.stringify({ id: 'evt_1', type: 'product.noted', data: { title: '搪瓷杯' } });
  const headers = (at = new Date(), secrets = [secret]) => signedHeaders({ id: 'evt_1', body, at }, secrets);
  expect(verifiedEvent(secret, headers(), body)).toEqual(JSON.parse(body));
  expect(verifiedEvent(secret, headers(new Date(), [other, secret]), body).id).toBe('evt_1');
  const minutes = (count: number) => new Date(Date.now() + count * 60_000);
  const { 'webhook-signature': signature } = headers();
  for (const [given, text] of [
    [headers(), body.replace('evt_1', 'evt_2')],
    [headers(new Date(), [other]), body],
    [headers(minutes(-6)), body],
    [headers(minutes(6)), body],
    [{ ...headers(), 'webhook-id': 'evt_2' }, body],
    [{ ...headers(), 'webhook-signature': signature!.replace('v1,', 'v2,') }, body],
    [{ ...headers(), 'webhook-signature': '' }, body],
    [{}, body],
  ] as const)
    expect(() => verifiedEvent(secret, given, text)).toThrow();
});
