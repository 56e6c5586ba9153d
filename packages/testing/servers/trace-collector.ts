import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type CollectedSpan = {
  readonly traceId: string;
  readonly id: string;
  /** Empty: the span begins its trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly ms: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The ids of the linked spans. */
  readonly links: readonly string[];
  readonly failed: boolean;
  /** The attributes of the process. */
  readonly resource: Readonly<Record<string, string | number>>;
};

type Field = bigint | Buffer;

/** The fields of a protobuf message by number, read from the description of the wire format. */
function fieldsOf(bytes: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    const value = wire === 0 ? varint() : take(wire === 1 ? 8 : wire === 5 ? 4 : Number(varint()));
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const all = (fields: Map<number, Field[]>, number: number): Buffer[] => (fields.get(number) ?? []) as Buffer[];
const one = (fields: Map<number, Field[]>, number: number): Buffer => all(fields, number)[0] ?? Buffer.alloc(0);

function attributesOf(pairs: readonly Buffer[]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const fields = fieldsOf(pair);
      const value = fieldsOf(one(fields, 2));
      const text = value.get(1)?.[0];
      return [one(fields, 1).toString(), text === undefined ? Number(value.get(3)?.[0]) : String(text)];
    }),
  );
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

function spanOf(bytes: Buffer, resource: CollectedSpan['resource']): CollectedSpan {
  const fields = fieldsOf(bytes);
  const nanos = (number: number) => one(fields, number).readBigUInt64LE();
  return {
    traceId: one(fields, 1).toString('hex'),
    id: one(fields, 2).toString('hex'),
    parentId: one(fields, 4).toString('hex'),
    name: one(fields, 5).toString(),
    kind: kinds[Number(fields.get(6)?.[0] ?? 0)]!,
    ms: Number(nanos(8) - nanos(7)) / 1e6,
    attributes: attributesOf(all(fields, 9)),
    links: all(fields, 13).map((link) => one(fieldsOf(link), 2).toString('hex')),
    failed: fieldsOf(one(fields, 15)).get(3)?.[0] === 2n,
    resource,
  };
}

/** The spans of a request of OTLP (ExportTraceServiceRequest). */
const spansOf = (body: Buffer): CollectedSpan[] =>
  all(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const fields = fieldsOf(resourceSpans);
    const resource = attributesOf(all(fieldsOf(one(fields, 1)), 1));
    return all(fields, 2).flatMap((scope) => all(fieldsOf(scope), 2).map((span) => spanOf(span, resource)));
  });

/** A collector of traces on loopback: OTLP over HTTP with protobuf. `answer` replaces its answer. */
export async function openTraceCollector(answer: (response: ServerResponse) => void = (response) => response.end()) {
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const spans: CollectedSpan[] = [];
  let behave = answer;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push({ path: request.url ?? '', headers: request.headers });
    spans.push(...spansOf(Buffer.concat(chunks)));
    behave(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans,
    answers(next: (response: ServerResponse) => void) {
      behave = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type TraceCollector = Awaited<ReturnType<typeof openTraceCollector>>;
