/** The part of JSON Schema that our documents use. */
export type JsonSchema = {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  minimum?: number;
  $ref?: string;
  [key: string]: unknown;
};

/**
 * Returns a value that fits `schema`: its own example or default if it has one, otherwise a value built from its parts.
 */
export function exampleOf(schema: JsonSchema, components: Record<string, JsonSchema>): unknown {
  if (schema.examples?.length) return schema.examples[0];
  if (schema.$ref) {
    const target = components[schema.$ref.replace('#/components/schemas/', '')];
    return target ? exampleOf(target, components) : null;
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  const options = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (options?.length) return exampleOf(options.find((option) => option.type !== 'null') ?? options[0]!, components);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, exampleOf(property, components)]),
      );
    case 'array':
      // `not: {}` marks a list that is always empty: the last level of a tree.
      return schema.items && !schema.items.not ? [exampleOf(schema.items, components)] : [];
    case 'integer':
    case 'number':
      return typeof schema.default === 'number' ? schema.default : Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return schema.default ?? false;
    case 'null':
      return null;
    default:
      return schema.default ?? 'text';
  }
}
