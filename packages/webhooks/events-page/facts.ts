import type { EventKind } from '@tradepost/runtime';
import { z } from 'zod';

type Fact = {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minor_units?: boolean;
  /** Of a list of objects. */
  readonly items?: { readonly properties?: Readonly<Record<string, Fact>> };
};

/** Texts of examples. The other facts have an example by their type. */
const exampleTexts: Readonly<Record<string, string>> = {
  order_no: 'N1772416800000000000',
  refund_no: 'R1772416800000000000',
  case_no: 'AS1772416800000000000',
  company: 'SF',
  tracking_no: 'SF1234567890',
  title: 'Enamel mug (Cream, L)',
  host: 'erp.example',
};
const exampleNumbers: Readonly<Record<string, number>> = {
  status: 2,
  stock: 8,
  threshold: 10,
  product_score: 5,
  logistics_score: 4,
};

/** The facts of an event: name and JSON schema. */
export const factsOf = ({ data }: EventKind): [string, Fact][] =>
  Object.entries((z.toJSONSchema(data) as { properties?: Record<string, Fact> }).properties ?? {});

function exampleOf(name: string, fact: Fact): unknown {
  if (fact.enum) return fact.enum[0];
  if (fact.minor_units) return 129.5;
  if (fact.type === 'string') return exampleTexts[name] ?? 'text';
  if (fact.type === 'number' || fact.type === 'integer') return exampleNumbers[name] ?? 12;
  if (fact.items?.properties) return [exampleOfEach(Object.entries(fact.items.properties))];
  throw new Error(`${name}: the page of events has no example of the type ${fact.type}`);
}

const exampleOfEach = (facts: readonly (readonly [string, Fact])[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(facts.map(([name, fact]) => [name, exampleOf(name, fact)]));

/** The data of an event as a receiver gets it. */
export const exampleData = (kind: EventKind): Readonly<Record<string, unknown>> => exampleOfEach(factsOf(kind));

function meaningOf({ description = '', enum: values, minor_units: isAmount }: Fact): string {
  // A receiver gets amounts with two decimals.
  const about = isAmount ? description.replace(', in minor units', '') : description;
  return [about, values?.map((value) => `\`${value}\``).join(', ')].filter(Boolean).join(': ').replaceAll('|', '\\|');
}

/** The facts of an event as the rows of a table. The facts of a list follow it. */
export const factRows = (kind: EventKind): string[] => factsOf(kind).flatMap(([name, fact]) => rowsOf(name, fact));

function rowsOf(name: string, fact: Fact): string[] {
  const type = fact.minor_units ? 'amount' : fact.type === 'array' ? 'list' : (fact.type ?? '');
  const ofEach = Object.entries(fact.items?.properties ?? {});
  return [
    `| \`${name}\` | ${type} | ${meaningOf(fact)} |`,
    ...ofEach.flatMap(([field, inner]) => rowsOf(`${name}[].${field}`, inner)),
  ];
}
