import { type CommandContext, declaredBy } from '@tradepost/module';
import { runtimeSettings, type Setting } from '@tradepost/runtime';
import { completeAfter, completeWith } from '@tradepost/terminal';
import { Argument } from 'commander';
import { z } from 'zod';

const settingsOf = (context: CommandContext): readonly Setting[] => [
  ...runtimeSettings,
  ...declaredBy(context.modules, 'settings'),
];

type JsonSchema = { type?: string | string[]; enum?: unknown[]; const?: unknown; anyOf?: JsonSchema[] };

function valuesIn({ type, enum: named, const: only, anyOf }: JsonSchema): string[] {
  if (type === 'boolean' || type?.includes('boolean')) return ['true', 'false'];
  if (anyOf) return anyOf.flatMap(valuesIn);
  return (named ?? (only === undefined ? [] : [only])).map(String);
}

/** The JSON Schema of the values that a setting takes. */
export const inputSchemaOf = (schema: Setting['schema']) =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as JsonSchema;

/** The values of a setting that has few: true and false, or the names that its schema allows. */
function valuesOfSetting({ schema, field, secret, readOnly }: Setting): readonly string[] {
  if (secret || readOnly) return [];
  const values = field?.choices ?? valuesIn(inputSchemaOf(schema));
  return values.filter((value) => value !== '');
}

/** An argument that is the key of a setting, or the beginning of one. */
export const keyArgument = (name: string, context: CommandContext) =>
  completeWith(new Argument(name), () =>
    settingsOf(context)
      .map(({ key }) => key)
      .sort(),
  );

/** The same, with the values of each setting for the argument that follows. */
export const keyBeforeValue = (name: string, context: CommandContext) =>
  completeAfter(
    keyArgument(name, context),
    () =>
      new Map(
        settingsOf(context)
          .map((setting) => [setting.key, valuesOfSetting(setting)] as const)
          .filter(([, values]) => values.length > 0),
      ),
  );
