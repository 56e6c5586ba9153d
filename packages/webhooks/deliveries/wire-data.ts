import { toWire } from '@tradepost/core';
import type { EventKind } from '@tradepost/runtime';
import { z } from 'zod';

type Shape = {
  readonly minor_units?: boolean;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
};

/** The facts as the API answers them: amounts are numbers with two decimals. */
function converted(shape: Shape | undefined, value: unknown): unknown {
  if (shape?.minor_units === true && typeof value === 'number') return toWire(value);
  if (Array.isArray(value)) return value.map((entry) => converted(shape?.items, entry));
  if (typeof value !== 'object' || value === null || !shape?.properties) return value;
  const { properties } = shape;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, converted(properties[key], part)]));
}

/** Converts the facts of events of these kinds for receivers. Facts of an unknown kind are unchanged. */
export function wireDataOf(kinds: readonly EventKind[]) {
  const shapes = new Map(kinds.map(({ name, data }) => [name, z.toJSONSchema(data) as Shape]));
  return (name: string, data: Readonly<Record<string, unknown>>): unknown => converted(shapes.get(name), data);
}
