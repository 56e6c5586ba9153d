import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

/** The alert rules and the dashboard are files that no program of the shop reads: a renamed metric would silence them. */

const docs = join(import.meta.dirname, '../../docs');
const read = (file: string) => readFile(join(docs, file), 'utf8');

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> };
const rules: Rule[] = parse(await read('monitoring/alerts.yml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
);
const panels: { title: string; targets?: { expr: string }[] }[] = JSON.parse(
  await read('monitoring/dashboard.json'),
).panels;
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  // Grafana replaces its variables before it sends a query.
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(
      ({ expr }) => [title, expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*')] as const,
    ),
  ),
];

/** The metrics that an expression selects, with the labels that it names for each; `by` labels count for all of them. */
function selectedBy(expr: string): {
  faults: string[];
  metrics: { name: string; labels: string[] }[];
  grouping: string[];
} {
  const faults: string[] = [];
  const metrics: { name: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  parser.parse(expr).iterate({
    enter(node) {
      const text = expr.slice(node.from, node.to);
      if (node.type.isError) faults.push(`at ${node.from}`);
      if (node.name === 'VectorSelector') metrics.push({ name: /^[\w:]+/.exec(text)?.[0] ?? '', labels: [] });
      if (node.name !== 'LabelName') return;
      if (node.node.parent?.name === 'GroupingLabels') grouping.push(text);
      else metrics.at(-1)?.labels.push(text);
    },
  });
  return { faults, metrics, grouping };
}

/** Labels that Prometheus adds, and the bound of a bucket. */
const addedLabels = ['instance', 'job', 'le'];
let shop: Shop;
/** The labels of each metric. */
const known = new Map<string, readonly string[]>([['up', []]]);
beforeAll(async () => {
  shop = await openShop({ only: 'api,worker,gateway', gatewayPort: 0, adminPort: 0 });
  const text = await (await fetch(`${shop.server.admin!.url}/metrics`)).text();
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const labels = (shop.server.runtime.metrics.registry.getSingleMetric(name!) as unknown as { labelNames: string[] })
      .labelNames;
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of suffixes) known.set(name! + suffix, labels);
  }
});
afterAll(() => shop?.close());

test.each(expressions)('%s selects metrics and labels that a running server has', (_title, expr) => {
  const { faults, metrics, grouping } = selectedBy(expr);
  expect(faults).toEqual([]);
  expect(metrics.length).toBeGreaterThan(0);
  const unknown = metrics.flatMap(({ name, labels }) => {
    const has = known.get(name);
    if (!has) return [name];
    return [...labels, ...grouping].filter((label) => !has.includes(label) && !addedLabels.includes(label));
  });
  expect(unknown).toEqual([]);
});

test('a name that no server has is found', () => {
  expect(selectedBy('sum by (a) (rate(http_x_total{code="1"}[5m])) > 1 * up')).toEqual({
    ...{ faults: [], grouping: ['a'] },
    metrics: [
      { name: 'http_x_total', labels: ['code'] },
      { name: 'up', labels: [] },
    ],
  });
  expect(selectedBy('rate(up[5m]').faults).not.toEqual([]);
});

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

test('each alert has a name of its own, and leads to a chapter that exists', async () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect(['page', 'warning', 'info'], alert).toContain(labels.severity);
    expect(annotations.summary, alert).toBeTruthy();
    const [file = '', anchor = ''] = (annotations.action ?? '').split('#');
    const headings = [...(await read(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
    expect(headings, alert).toContain(anchor);
  }
});
