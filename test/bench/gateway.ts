import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import { type BenchOptions, connections as manyConnections } from './alternating-runs.ts';
import { runJob } from './child.ts';
import type { GatewayLoad, GatewayLoadJob } from './gateway-load-job.ts';
import { startTargets, type Target, type TargetName, type Targets, targetNames } from './gateway-targets.ts';
import { mean, progress, type Row, type Section } from './report.ts';
import type { Cluster } from './server.ts';
import { cpuSeconds } from './usage.ts';

const text =
  'Tradepost is a shop back end. A customer asks whether the enamel mug holds hot tea, whether it may be put into the ' +
  'dishwasher, and when it would arrive in Hangzhou if it were ordered today. Answer in three short sentences.';
const prompts = {
  chat: { content: text },
  stream: { content: text, stream: true },
  'slow chat': { content: `${text} You may take your time.` },
} as const;
type Kind = keyof typeof prompts;

type Scene = {
  kind: Kind;
  connections: number;
  perSecond: number | null;
  rounds: number;
};
/** Full load, and fixed rates at which all processes are idle most of the time. */
const fullLoad: readonly Scene[] = [
  { kind: 'chat', connections: manyConnections, perSecond: null, rounds: 3 },
  { kind: 'stream', connections: manyConnections, perSecond: null, rounds: 3 },
];
const lowRate: readonly Scene[] = [
  { kind: 'chat', connections: 1, perSecond: 100, rounds: 2 },
  { kind: 'chat', connections: 8, perSecond: 200, rounds: 2 },
  // One request at a time, so the rate is below that of the slowest target.
  { kind: 'stream', connections: 1, perSecond: 20, rounds: 2 },
  { kind: 'stream', connections: 8, perSecond: 100, rounds: 2 },
  { kind: 'slow chat', connections: manyConnections, perSecond: 200, rounds: 2 },
];

type Measured = GatewayLoad & { gatewayCpu: number | null; upstreamCpu: number | null; postgresCpu: number | null };
type Turn = { target: TargetName; result: Measured };

function requestBody(kind: Kind): string {
  const { content, ...more } = prompts[kind];
  const messages = [
    { role: 'system', content: 'You are a clerk.' },
    { role: 'user', content },
  ];
  return JSON.stringify({ model: 'gpt-4o', messages, max_tokens: 100, ...more });
}

/** The text of the model in an answer, without fields that a gateway adds. */
function contentOf(kind: Kind, body: string): string {
  if (kind !== 'stream') return JSON.parse(body).choices[0].message.content;
  const events = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, event]) => JSON.parse(event!));
  return events.map((event) => event.choices[0].delta.content).join('');
}

/** Checks the answer of each target: it must have the text of the upstream. The answer of Tradepost must be equal byte for byte. */
async function answersOf(targets: Targets, kind: Kind): Promise<Map<TargetName, string>> {
  const answers = new Map<TargetName, string>();
  for (const { name, port, headers } of targets.all) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: requestBody(kind),
    });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${name}, ${kind}: ${response.status} ${body}`);
    answers.set(name, body);
    const direct = answers.get('direct')!;
    if (contentOf(kind, body) !== contentOf(kind, direct) || (name === 'tradepost' && body !== direct))
      throw new Error(`${name}, ${kind}: another answer than the upstream's: ${body}`);
  }
  return answers;
}

function requestOf(kind: Kind, { headers }: Target): string {
  const body = requestBody(kind);
  const lines = Object.entries({ ...headers, 'content-type': 'application/json', 'content-length': body.length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n${head}\r\n${body}`;
}

/** Checks that every answer has a finished usage row. Rows are finished up to 100 ms after the answer. */
async function checkUsageRows(sql: Sql, answers: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const [row] = await sql<{ rows: number; ended: number }[]>`
      select count(*)::int as rows, count(*) filter (where state = 'done' and http_status = 200)::int as ended
      from gateway.usage`;
    if (row!.rows === answers && row!.ended === answers) return;
    if (tries === 50) throw new Error(`${answers} answers, ${row!.rows} rows of usage, ${row!.ended} of them ended`);
    await sleep(100);
  }
}

async function measureTurn(
  cluster: Cluster,
  targets: Targets,
  target: Target,
  scene: Scene,
  body: string,
  { seconds, warmupSeconds }: { seconds: number; warmupSeconds: number },
): Promise<Measured> {
  if (target.name === 'tradepost') await cluster.sql`truncate gateway.usage`;
  const { connections, perSecond } = scene;
  const job: GatewayLoadJob = {
    ...{ port: target.port, request: requestOf(scene.kind, target), body },
    ...{ connections, perSecond, warmupSeconds, seconds },
  };
  const read = () => ({
    gateway: target.pid === null ? null : cpuSeconds(target.pid),
    upstream: cpuSeconds(targets.upstream.pid),
    postgres: target.name === 'tradepost' ? cpuSeconds(cluster.postmaster, { tree: true }) : null,
  });
  const edges: Record<string, ReturnType<typeof read>> = {};
  const result = await runJob<GatewayLoad>('gateway-load-job.ts', job, {
    limitSeconds: warmupSeconds + seconds + 30,
    onEvent: (edge) => {
      edges[edge] = read();
    },
  });
  if (target.name === 'tradepost') await checkUsageRows(cluster.sql, result.answers);
  const per = (of: keyof ReturnType<typeof read>) => {
    const [from, to] = [edges.begin![of], edges.end![of]];
    return from === null || to === null ? null : ((to - from) / result.measured) * 1e6;
  };
  return { ...result, gatewayCpu: per('gateway'), upstreamCpu: per('upstream'), postgresCpu: per('postgres') };
}

/** Measures the targets alternately. */
async function runScene(cluster: Cluster, targets: Targets, scene: Scene, { seconds }: BenchOptions): Promise<Turn[]> {
  const { kind, connections, rounds } = scene;
  const bodies = await answersOf(targets, kind);
  const turns: Turn[] = [];
  for (let round = 0; round < rounds; round++)
    for (const target of targets.all) {
      const body = bodies.get(target.name)!;
      // Compilation before the steady state takes time.
      const times = { seconds, warmupSeconds: round === 0 ? 5 : 2 };
      const result = await measureTurn(cluster, targets, target, scene, body, times);
      progress(`${kind}, ${connections} connections, ${target.name}: ${Math.round(result.perSecond)}/s`);
      turns.push({ target: target.name, result });
    }
  return turns;
}

type Figure = 'perSecond' | 'p50' | 'p99' | 'firstP50' | 'firstP99';
const figureOf = (turns: readonly Turn[]) => (target: TargetName, field: Figure) =>
  mean(turns.filter((turn) => turn.target === target).map(({ result }) => result[field]));
const [direct, ours, peer] = targetNames;

function loadSection({ kind, connections }: Scene, turns: readonly Turn[]): Section {
  const of = figureOf(turns);
  const ratio = (name: string, one: TargetName, other: TargetName): Row => ({
    target: name,
    'requests/s': of(one, 'perSecond') / of(other, 'perSecond'),
    'p50 ms': of(one, 'p50') / of(other, 'p50'),
    'p99 ms': of(one, 'p99') / of(other, 'p99'),
  });
  return {
    title: `${kind} at full load, ${connections} connections`,
    rows: [
      ...turns.map(
        ({ target, result }): Row => ({
          target,
          'requests/s': result.perSecond,
          'p50 ms': result.p50,
          'p99 ms': result.p99,
          'gateway CPU us': result.gatewayCpu,
          'gateway cores': result.gatewayCpu === null ? null : (result.gatewayCpu * result.perSecond) / 1e6,
          'PostgreSQL CPU us': result.postgresCpu,
          'upstream CPU us': result.upstreamCpu,
          'load CPU us': result.cpu,
        }),
      ),
      ratio('tradepost / direct', ours, direct),
      ratio('tradepost / @portkey-ai/gateway', ours, peer),
    ],
    notes: [
      "every answer says what the upstream's says; tradepost's is the same bytes, and has its row of usage, committed with fsync before it begins",
      ...(kind === 'stream'
        ? [
            '@portkey-ai/gateway always waits 25 ms before the first event of a stream (its streams need a patch: gateway-peer.ts)',
          ]
        : []),
    ],
  };
}

function addedSection(measured: readonly { scene: Scene; turns: readonly Turn[] }[]): Section {
  const rows = measured.flatMap(({ scene: { kind, connections, perSecond }, turns }) => {
    const of = figureOf(turns);
    return targetNames.map((target): Row => {
      const added = (field: Figure) => (target === direct ? null : of(target, field) - of(direct, field));
      return {
        call: `${kind}, ${connections} connections, ${perSecond}/s`,
        target,
        'p50 ms': of(target, 'p50'),
        'p99 ms': of(target, 'p99'),
        'first event p50 ms': of(target, 'firstP50'),
        'added p50 ms': added('p50'),
        'added p99 ms': added('p99'),
        'added to first event p50 ms': added('firstP50'),
      };
    });
  });
  const addedRatio = measured.map(({ scene: { kind, connections }, turns }): Row => {
    const of = figureOf(turns);
    const ratio = (field: Figure) => (of(ours, field) - of(direct, field)) / (of(peer, field) - of(direct, field));
    return {
      call: `${kind}, ${connections} connections`,
      target: 'tradepost / @portkey-ai/gateway',
      'added p50 ms': ratio('p50'),
      'added p99 ms': ratio('p99'),
      'added to first event p50 ms': ratio('firstP50'),
    };
  });
  return {
    title: 'time that a gateway adds to a call, at a low fixed rate',
    rows: [...rows, ...addedRatio],
    notes: ['slow chat: the upstream takes 200 ms, as long as a commit can hide behind'],
  };
}

/** Measures Tradepost and another gateway on one upstream, and the upstream alone. */
export async function gateway(cluster: Cluster, options: BenchOptions): Promise<Section[]> {
  const targets = await startTargets(cluster, options.profile);
  const sections: Section[] = [];
  for (const scene of fullLoad) sections.push(loadSection(scene, await runScene(cluster, targets, scene, options)));
  const measured: { scene: Scene; turns: Turn[] }[] = [];
  for (const scene of lowRate) measured.push({ scene, turns: await runScene(cluster, targets, scene, options) });
  sections.push(addedSection(measured));
  await targets.stop();
  return sections;
}
