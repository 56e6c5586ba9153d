import { z } from 'zod';
import { exampleOf, type JsonSchema } from '../openapi/example.ts';
import { schemaOf } from '../openapi/openapi.ts';
import type { Channel, TokenSource } from './define-channel.ts';
import { endReasons } from './end-reasons.ts';

type Components = Record<string, JsonSchema>;
type Message = Record<string, unknown>;
type Direction = 'receive' | 'send';

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const ref = (...path: string[]) => ({
  $ref: `#/${path.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`,
});

/** Every channel sends this frame when it refuses a frame or when a handler throws. */
const errorFrame = z.object({
  type: z.literal('error'),
  code: z.int().meta({ examples: [400] }),
  message: z.string().meta({ examples: ['text: is required'] }),
  msg: z.string().meta({ description: 'repeats message', examples: ['text: is required'] }),
});
const authFrame = z.object({ type: z.literal('auth'), token: z.string().min(1) });

/** The schemas of a union. Each is a message. */
const optionsOf = (schema: z.ZodType): readonly z.ZodType[] => {
  const { type, options } = schema.def as { type: string; options?: readonly z.ZodType[] };
  return type === 'union' ? options!.flatMap(optionsOf) : type === 'never' ? [] : [schema];
};

/** The name of a message: the value of its `type` field, the id of its schema, or its number. */
function messageName(schema: z.ZodType, payload: JsonSchema, index: number, components: Components): string {
  const named = payload.$ref ? components[payload.$ref.replace('#/components/schemas/', '')] : payload;
  const type = named?.properties?.type?.const;
  const id = schema.meta()?.id;
  return typeof type === 'string' ? type : typeof id === 'string' ? id : `frame${index + 1}`;
}

function jsonMessage(name: string, payload: JsonSchema, components: Components): Message {
  const { description } = payload;
  return {
    name,
    title: name,
    ...(typeof description === 'string' ? { summary: description } : {}),
    contentType: 'application/json',
    payload,
    examples: [{ name: 'example', payload: exampleOf(payload, components) }],
  };
}

function messagesOf(channel: Channel, direction: Direction, components: Components): Message[] {
  const schemas = [...optionsOf(direction === 'receive' ? channel.receives : channel.sends)];
  if (direction === 'send') schemas.push(errorFrame);
  else if (channel.tokenFrom.includes('first_frame')) schemas.push(authFrame);
  const messages = schemas.map((schema, index) => {
    const payload = schemaOf(schema, direction === 'receive' ? 'input' : 'output', components);
    return jsonMessage(messageName(schema, payload, index, components), payload, components);
  });
  const binary = channel.binary?.[direction === 'receive' ? 'receives' : 'sends'];
  if (binary)
    messages.push({
      name: 'binary',
      title: 'binary',
      summary: binary,
      contentType: 'application/octet-stream',
      payload: { type: 'string', format: 'binary' },
      examples: [{ name: 'example', payload: 'bytes' }],
    });
  return messages;
}

const securityBySource: Readonly<Record<Exclude<TokenSource, 'first_frame'>, string>> = {
  header: 'bearer',
  query: 'tokenInQuery',
  protocol: 'tokenInProtocol',
};
const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  tokenInQuery: { type: 'httpApiKey', name: 'token', in: 'query', description: 'For browsers.' },
  tokenInProtocol: {
    type: 'httpApiKey',
    name: 'Sec-WebSocket-Protocol',
    in: 'header',
    description: 'For browsers: offer the subprotocols `tradepost` and `bearer.<token>`; the answer names `tradepost`.',
  },
};
const authText: Record<Channel['auth'], string> = {
  public: 'Public.',
  optional: 'Works without a token. With a shopper’s token the answer also has data of this shopper.',
  shopper: 'A shopper’s token.',
  staff: 'An administrator’s token.',
  any: 'A shopper’s or an administrator’s token.',
};

const descriptionOf = ({ description, auth, permission, tokenFrom }: Channel): string =>
  [
    description,
    authText[auth],
    permission ? `Permission \`${permission}\`.` : '',
    tokenFrom.includes('first_frame') ? 'The token may also come in the first frame, `auth`.' : '',
  ]
    .filter(Boolean)
    .join(' ');

function channelOf(
  channel: Channel,
  messages: readonly Message[],
  id: (message: Message) => string,
  parts: Components,
) {
  const { path, name, summary, tag, params, query, limits } = channel;
  const parameters = params ? (schemaOf(params, 'input', parts).properties ?? {}) : {};
  return {
    address: path.replaceAll(/:(\w+)/g, '{$1}'),
    title: name,
    summary,
    description: descriptionOf(channel),
    servers: [ref('servers', 'shop')],
    tags: [{ name: tag }],
    parameters: Object.fromEntries(
      [...path.matchAll(/:(\w+)/g)].map(([, key]) => [
        key,
        {
          description: String(parameters[key!]?.description ?? key),
          ...(parameters[key!] ? { examples: [String(exampleOf(parameters[key!]!, parts))] } : {}),
        },
      ]),
    ),
    messages: Object.fromEntries(messages.map((message) => [id(message), ref('components', 'messages', id(message))])),
    bindings: {
      ws: {
        method: 'GET',
        ...(query ? { query: { properties: {}, ...schemaOf(query, 'input', parts) } } : {}),
        bindingVersion: '0.1.0',
      },
    },
    'x-limits': limits,
    'x-when-queue-full': channel.whenQueueFull,
    'x-invalid-frames': channel.invalidFrames,
  };
}

function operationOf(channel: Channel, direction: Direction, ids: readonly string[]) {
  const { name, summary, auth, tokenFrom } = channel;
  const schemes = tokenFrom.flatMap((source) => (source === 'first_frame' ? [] : [securityBySource[source]]));
  return {
    action: direction,
    channel: ref('channels', name),
    title: `${direction === 'receive' ? 'Frames of clients' : 'Frames of the server'}: ${name}`,
    summary,
    ...(auth === 'public' || schemes.length === 0
      ? {}
      : { security: schemes.map((scheme) => ref('components', 'securitySchemes', scheme)) }),
    messages: ids.map((id) => ref('channels', name, 'messages', id)),
  };
}

/** Makes the AsyncAPI 3.0 document of the channels. `receive` and `send` are seen from the server. */
export function asyncApiDocument(channels: readonly Channel[], version: string): JsonSchema {
  const schemas: Components = {};
  const messages: Record<string, Message> = {};
  const documented: Record<string, unknown> = {};
  const operations: Record<string, unknown> = {};
  for (const channel of channels) {
    const all: Message[] = [];
    const idOf = new Map<Message, string>();
    for (const direction of ['receive', 'send'] as const) {
      const own = messagesOf(channel, direction, schemas);
      for (const message of own) {
        const id = `${channel.name}${capital(direction)}${capital(String(message.name))}`;
        idOf.set(message, id);
        messages[id] = message;
        all.push(message);
      }
      const ids = own.map((message) => idOf.get(message)!);
      if (ids.length > 0) operations[`${direction}${capital(channel.name)}`] = operationOf(channel, direction, ids);
    }
    documented[channel.name] = channelOf(channel, all, (message) => idOf.get(message)!, schemas);
  }
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Tradepost channels',
      version,
      license: { name: 'MIT' },
      description:
        'WebSocket channels. Text frames are JSON. A handshake is refused over HTTP with the envelope of the API. Close frames of ' +
        'the server name their reason, see `x-close-reasons`. Any origin may connect: no cookie authenticates a socket.',
    },
    defaultContentType: 'application/json',
    servers: {
      shop: {
        host: '{host}',
        protocol: 'ws',
        description: 'The address of the shop; `wss` behind a proxy with TLS.',
        variables: { host: { default: 'localhost:8080', description: 'Host and port of the shop' } },
      },
    },
    channels: documented,
    operations,
    components: { schemas, messages, securitySchemes },
    'x-close-reasons': endReasons,
  };
}
