import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { S3Faults } from './s3-server.ts';
import { signatureFault } from './sigv4.ts';

/**
 * A storage with the S3 protocol as far as the drivers use it, as a process: objects of buckets in memory, readable by
 * everyone, written with a checked signature. Buckets are in the path. Arguments: access key, secret key, the faults as JSON, buckets.
 */
const [id = '', secret = '', faultText = '{}', ...buckets] = process.argv.slice(2);
const { every = 0, maxObjects = Number.POSITIVE_INFINITY } = JSON.parse(faultText) as S3Faults;
let requests = 0;
type Fault = 'busy' | 'no answer' | 'cut off';
const faults: readonly Fault[] = ['busy', 'no answer', 'cut off'];
/** The fault of this request, if it has one: each kind in turn. */
function nextFault(): Fault | undefined {
  requests += 1;
  return every > 0 && requests % every === 0 ? faults[(requests / every) % faults.length] : undefined;
}

const objects = new Map<string, { headers: Record<string, string>; bytes: Buffer }>();

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}

/** Two objects per page, so that clients have to read several pages. */
const pageSize = 2;

/** The objects of a bucket below a prefix: ListObjectsV2. */
function list(url: URL, response: ServerResponse): void {
  const bucket = `/${url.pathname.split('/')[1]}/`;
  const prefix = url.searchParams.get('prefix') ?? '';
  const after = url.searchParams.get('continuation-token') ?? '';
  const keys = [...objects.keys()]
    .filter((path) => path.startsWith(bucket + prefix))
    .map((path) => path.slice(bucket.length))
    .sort()
    .filter((key) => key > after);
  const page = keys.slice(0, pageSize);
  const contents = page.map(
    (key) => `<Contents><Key>${key}</Key><Size>${objects.get(bucket + key)!.bytes.length}</Size></Contents>`,
  );
  const next = keys.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  response
    .writeHead(200, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0"?><ListBucketResult>${contents.join('')}${next}</ListBucketResult>`);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request;
  const headers = request.headers as Record<string, string | undefined>;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (!buckets.includes(url.split('/')[1] ?? '')) return refuse(response, 404, 'NoSuchBucket');
  const simulated = nextFault();
  if (simulated === 'busy') return refuse(response, 503, 'SlowDown');
  if (simulated === 'no answer') {
    response.destroy();
    return;
  }
  const found = objects.get(url);
  const asked = new URL(url, 'http://localhost');
  if (method === 'GET' && asked.searchParams.get('list-type') === '2') {
    const fault = signatureFault({ method, path: url, headers }, { id, secret });
    return fault ? refuse(response, 403, fault) : list(asked, response);
  }
  if (method === 'GET' || (method === 'HEAD' && !headers.authorization)) {
    if (!found) return refuse(response, 404, 'NoSuchKey');
    const { bytes, headers: stored } = found;
    response.writeHead(200, { ...stored, 'content-length': bytes.length });
    if (simulated === 'cut off') response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    else response.end(method === 'GET' ? bytes : undefined);
    return;
  }
  const fault = signatureFault({ method, path: url, headers }, { id, secret });
  if (fault) return refuse(response, 403, fault);
  if (method === 'HEAD' && found) {
    response.writeHead(200, { 'content-length': found.bytes.length }).end();
    return;
  }
  if (method === 'HEAD') return refuse(response, 404, 'NoSuchKey');
  if (method === 'DELETE') {
    objects.delete(url);
    response.writeHead(204).end();
    return;
  }
  if (method !== 'PUT') return refuse(response, 405, 'MethodNotAllowed');
  // Object storages do not take a chunked body.
  if (!headers['content-length']) return refuse(response, 411, 'MissingContentLength');
  if (!found && objects.size >= maxObjects) return refuse(response, 403, 'QuotaExceeded');
  const bytes = Buffer.concat(chunks);
  const disposition = headers['content-disposition'];
  const stored = {
    'content-type': headers['content-type'] ?? '',
    ...(disposition && { 'content-disposition': disposition }),
  };
  objects.set(url, { headers: stored, bytes });
  response.writeHead(200, { etag: `"${createHash('md5').update(bytes).digest('hex')}"` }).end();
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
}).listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`http://127.0.0.1:${(server.address() as { port: number }).port}\n`);
// Ends with the test process.
process.stdin.on('end', () => process.exit()).resume();
