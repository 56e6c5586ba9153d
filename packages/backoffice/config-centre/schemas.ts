import { list, text } from '@tradepost/http';
import { z } from 'zod';
import { fieldTypes } from './config-pages.ts';

const maxPlugins = 100;
const maxFields = 100;
const maxOptions = 100;
const maxForm = 200;

const option = z.object({
  label: z.string().meta({ examples: ['Carrier'] }),
  value: z.string().meta({ examples: ['express'] }),
});

const configField = z.object({
  key: z.string().meta({ examples: ['delivery_mode'] }),
  label: z.string().meta({ examples: ['Delivery mode'] }),
  type: z.enum(fieldTypes),
  placeholder: z.string().optional(),
  required: z.boolean().optional(),
  options: list(option, maxOptions).optional().meta({ description: 'the values of a select' }),
  fixed: z
    .boolean()
    .optional()
    .meta({ description: 'true: the configuration file of the server sets the value, and other values are refused' }),
});

export const configSchemasView = list(
  z
    .object({
      plugin: z.string().meta({ examples: ['delivery_router'] }),
      title: z.string().meta({ examples: ['Delivery'] }),
      fields: list(configField, maxFields),
    })
    .meta({ id: 'ConfigSchema' }),
  maxPlugins,
);

export const pluginParams = z.object({ plugin: text(64).meta({ examples: ['delivery_router'] }) });

const description = 'values in force, as texts; a switch is "true" or "false", a secret is ***';
export const configValuesView = z
  .record(z.string(), z.string())
  .meta({ description, maxProperties: maxFields, examples: [{ delivery_mode: 'express' }] });

/** Unknown keys are ignored, so their values can have any form. */
export const configForm = z
  .record(z.string().max(200), z.unknown())
  .refine((form) => Object.keys(form).length <= maxForm, { error: `must have at most ${maxForm} keys` })
  .meta({ maxProperties: maxForm, examples: [{ delivery_mode: 'express' }] });

const smsValue = (example: string) => z.string().meta({ examples: [example] });
export const smsConfigView = z
  .object({
    provider: smsValue('aliyun'),
    access_key: smsValue(''),
    secret_key: smsValue('***'),
    sign_name: smsValue('Tradepost'),
  })
  .meta({ id: 'SmsConfig' });

/** Longer than any of these settings. */
const smsText = (example: string) =>
  text(500)
    .nullish()
    .meta({ examples: [example] });
export const smsConfigForm = z.object({
  provider: smsText('aliyun'),
  access_key: smsText('key-of-the-shop'),
  secret_key: smsText('***').meta({ format: 'password' }),
  sign_name: smsText('Tradepost'),
});
