import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemResources } from '../openapi/system-resources.ts';
import { asyncApiDocument } from './async-api.ts';
import { defineChannel } from './define-channel.ts';
import { openTestApp } from './test-sockets.ts';

const attachment = z.object({ url: z.string(), size: z.int() }).meta({ id: 'Attachment' });
const chat = defineChannel({
  name: 'chat',
  path: '/ws/chat/:room',
  auth: 'staff',
  permission: 'im:view',
  tokenFrom: ['header', 'query', 'protocol', 'first_frame'],
  tag: 'Support',
  summary: 'Messages of a room',
  params: z.object({ room: z.string().meta({ examples: ['lobby'] }) }),
  query: z.object({ since: z.int().optional() }),
  receives: z.discriminatedUnion('type', [
    z.object({ type: z.literal('msg'), text: z.string(), attachment: attachment.optional() }),
    z.object({ type: z.literal('ping') }).describe('Asks for a pong'),
  ]),
  sends: z.object({ count: z.int(), attachment }),
  binary: { receives: 'keys', sends: 'output' },
  connect: () => ({}),
});
const events = defineChannel({
  name: 'events',
  path: '/ws/events',
  auth: 'public',
  tag: 'Events',
  summary: 'Events of the shop',
  receives: z.never(),
  sends: z.object({ type: z.literal('event') }).meta({ id: 'ShopEvent' }),
  connect: () => ({}),
});

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Part = any;
const document: Part = asyncApiDocument([chat, events], '1.2.3');
const resolve = ({ $ref }: { $ref: string }): Part => {
  const found = $ref
    .slice(2)
    .split('/')
    .reduce((at: Part, key) => at?.[key], document);
  if (!found) throw new Error(`nothing at ${$ref}`);
  return found;
};

describe('/asyncapi.json', () => {
  test('has every field that AsyncAPI 3.0 requires, and every reference has a target', () => {
    expect(document.asyncapi).toBe('3.0.0');
    expect(document.info).toMatchObject({ title: expect.any(String), version: '1.2.3', license: { name: 'MIT' } });
    for (const server of Object.values<Part>(document.servers)) {
      expect(server).toMatchObject({ host: expect.any(String), protocol: 'ws' });
      for (const [, name] of server.host.matchAll(/\{(\w+)\}/g)) expect(server.variables[name].default).toBeTruthy();
    }
    const ids = /^[A-Za-z\d._-]+$/;
    for (const [id, channel] of Object.entries<Part>(document.channels)) {
      expect(id).toMatch(ids);
      expect(channel.address).toMatch(/^\//);
      const inPath = [...channel.address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(Object.keys(channel.parameters)).toEqual(inPath);
      expect(channel.bindings.ws).toMatchObject({ method: 'GET', bindingVersion: '0.1.0' });
      for (const message of Object.values<Part>(channel.messages)) expect(resolve(message).payload).toBeTruthy();
    }
    for (const operation of Object.values<Part>(document.operations)) {
      expect(['send', 'receive']).toContain(operation.action);
      const channel = resolve(operation.channel);
      for (const message of operation.messages) {
        // An operation refers to messages of its own channel and not to the components.
        expect(message.$ref.startsWith(`${operation.channel.$ref}/messages/`)).toBe(true);
        expect(Object.values(channel.messages)).toContainEqual(resolve(message));
      }
      for (const scheme of operation.security ?? []) expect(resolve(scheme).type).toBeTruthy();
    }
    for (const [id, message] of Object.entries<Part>(document.components.messages)) {
      expect(id).toMatch(ids);
      expect(message).toMatchObject({ name: expect.any(String), contentType: expect.any(String), payload: {} });
      expect(message.examples.length).toBeGreaterThan(0);
    }
    const refs = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
    for (const [, $ref] of refs) expect(resolve({ $ref: $ref! })).toBeTruthy();
    for (const { type, name, in: where } of Object.values<Part>(document.components.securitySchemes))
      expect(type === 'http' || (type === 'httpApiKey' && Boolean(name && where))).toBe(true);
  });

  test('every payload is a valid schema, and the example of its message fits it', () => {
    const ajv = new Ajv2020({ strict: false, formats: { binary: true } });
    ajv.addSchema({ $id: 'document', components: document.components });
    for (const { payload, examples } of Object.values<Part>(document.components.messages)) {
      const local = JSON.parse(JSON.stringify(payload).replaceAll('"#/', '"document#/'));
      const validate = ajv.compile(local);
      for (const example of examples) expect(validate(example.payload) || validate.errors).toBe(true);
    }
  });

  test('frames are named by their type, their schema or their number, parts by their name', () => {
    expect(Object.keys(document.channels.chat.messages)).toEqual([
      'chatReceiveMsg',
      'chatReceivePing',
      'chatReceiveAuth',
      'chatReceiveBinary',
      'chatSendFrame1',
      'chatSendError',
      'chatSendBinary',
    ]);
    expect(document.components.messages.chatReceivePing.summary).toBe('Asks for a pong');
    expect(document.components.messages.chatReceiveMsg.payload.properties.attachment).toEqual({
      $ref: '#/components/schemas/Attachment',
    });
    expect(Object.keys(document.channels.events.messages)).toEqual(['eventsSendEvent', 'eventsSendError']);
    expect(Object.keys(document.operations)).toEqual(['receiveChat', 'sendChat', 'sendEvents']);
    expect(document.channels.chat.parameters).toEqual({ room: { description: 'room', examples: ['lobby'] } });
    expect(document.channels.chat.description).toBe(
      'An administrator’s token. Permission `im:view`. The token may also come in the first frame, `auth`.',
    );
    expect(document.operations.receiveChat.security).toHaveLength(3);
    expect(document.operations.sendEvents.security).toBeUndefined();
    expect(document.channels.chat['x-limits'].frameBytes).toBe(16_384);
  });

  test('the server serves the document', async () => {
    const { runtime } = openTestApp([chat]);
    const resource = systemResources(runtime, [], '1.2.3', { channels: [chat] }).find(
      ({ path }) => path === '/asyncapi.json',
    );
    const answer = await resource!.handle(new Request('http://shop.test/asyncapi.json'), {});
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(asyncApiDocument([chat], '1.2.3'))));
  });
});

describe('an invalid definition throws', () => {
  const base = { tag: 'T', summary: 's', receives: z.never(), sends: z.never(), connect: () => ({}) };
  test.each([
    ['a permission without staff', { auth: 'any', name: 'a', permission: 'x' }, 'a permission needs auth "staff"'],
    ['a name that is no identifier', { auth: 'any', name: 'not this' }, 'the name must be in camel case'],
    ['no way to pass a token', { auth: 'any', name: 'a', tokenFrom: [] }, 'no way to pass a token'],
    [
      'an optional token in the first frame',
      { auth: 'optional', name: 'a', tokenFrom: ['first_frame'] },
      'first frame',
    ],
    ['no bound', { auth: 'any', name: 'a', limits: { queuedBytes: Number.POSITIVE_INFINITY } }, 'queuedBytes must be'],
  ] as const)('%s', (_what, changes, message) => {
    expect(() => defineChannel({ ...base, path: '/ws/x', ...changes } as never)).toThrow(message);
  });

  test('two channels on one path', () => {
    expect(() => openTestApp([events, events])).toThrow('GET /ws/events is defined twice');
  });
});
