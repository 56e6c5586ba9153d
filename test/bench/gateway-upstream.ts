/** The LLM service of `gateway.ts`. It answers at once, after 200 ms, or as a stream of 20 events. */
type Response = {
  cork(work: () => void): Response;
  writeHeader(name: string, value: string): Response;
  write(piece: string): boolean;
  end(body?: string): void;
  onData(handler: (part: ArrayBuffer, last: boolean) => void): void;
  onAborted(handler: () => void): void;
};
type Bare = {
  post(path: string, handler: (response: Response) => void): Bare;
  get(path: string, handler: (response: Response) => void): Bare;
  listen(host: string, port: number, done: (socket: unknown) => void): Bare;
};

const slowMs = 200;
const pieces = 20;
const about = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'gpt-4o' };
const usage = { prompt_tokens: 60, completion_tokens: pieces, total_tokens: 60 + pieces };
const words = Array.from({ length: pieces }, (_, n) => `word ${n} `);
const answer = JSON.stringify({
  ...{ ...about, object: 'chat.completion' },
  choices: [
    { index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop', logprobs: null },
  ],
  usage,
});
const events = words.map((content, n) => {
  const last = n === pieces - 1;
  const choices = [{ index: 0, delta: { content }, finish_reason: last ? 'stop' : null }];
  const event = { ...about, object: 'chat.completion.chunk', choices, ...(last && { usage }) };
  return `data: ${JSON.stringify(event)}\n\n${last ? 'data: [DONE]\n\n' : ''}`;
});

function whole(response: Response): void {
  response.cork(() => response.writeHeader('content-type', 'application/json').end(answer));
}

/** Sends each event in its own event-loop iteration, as a model does. */
function inPieces(response: Response, gone: () => boolean): void {
  response.cork(() => response.writeHeader('content-type', 'text/event-stream').write(events[0]!));
  let next = 1;
  const go = () => {
    if (gone()) return;
    if (next === pieces) return response.cork(() => response.end());
    response.cork(() => response.write(events[next]!));
    next++;
    setImmediate(go);
  };
  setImmediate(go);
}

function chat(response: Response): void {
  let body = '';
  let aborted = false;
  response.onAborted(() => {
    aborted = true;
  });
  response.onData((part, last) => {
    body += Buffer.from(part).toString('latin1');
    if (!last) return;
    if (body.includes('"stream":true')) inPieces(response, () => aborted);
    else if (body.includes('take your time')) setTimeout(() => aborted || whole(response), slowMs);
    else whole(response);
  });
}

// uWebSockets.js is a dependency of the HTTP package.
const name = 'uWebSockets.js';
const { App } = (await import(name)) as { App: () => Bare };
App()
  .post('/v1/chat/completions', chat)
  .get('/health', (response) => response.end('ok'))
  .listen('127.0.0.1', Number(process.env.PORT), (socket) => {
    if (!socket) throw new Error(`port ${process.env.PORT} is taken`);
  });
process.once('SIGTERM', () => process.exit());
