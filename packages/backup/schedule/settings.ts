import { isHttpAddress, type Setting, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { isValidDestination } from '../places/open-place.ts';

export const destination = setting(
  'backup.destination',
  z
    .string()
    .trim()
    .max(1_000)
    .refine(isValidDestination, { error: 'must be a folder, or s3://bucket/prefix of letters, digits, dots, - and _' }),
  '',
  'where backups on schedule are written: a folder, in the data folder unless it is absolute, or s3://bucket/prefix; empty: none are made',
);
export const time = setting(
  'backup.time',
  z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time such as 03:30' }),
  '03:30',
  'time of day of the backups on schedule, in the time zone of the shop',
);
export const everyHours = setting(
  'backup.every_hours',
  z
    .number()
    .int()
    .min(1)
    .max(24)
    .refine((hours) => 24 % hours === 0, { error: 'must be 1, 2, 3, 4, 6, 8, 12 or 24' }),
  24,
  'hours between backups on schedule, counted from backup.time: 1, 2, 3, 4, 6, 8, 12 or 24',
);
export const keep = setting(
  'backup.keep',
  z.number().int().min(1).max(1_000),
  14,
  'complete backups of this shop that are kept in the destination; older ones are removed',
);
export const uploads = setting(
  'backup.uploads',
  z.enum(['all', 'local', 'none']),
  'all',
  'uploaded files in backups on schedule: all, those of this server (local), or none',
);
export const s3Endpoint = setting(
  'backup.s3_endpoint',
  z
    .string()
    .trim()
    .max(500)
    .refine((text) => text === '' || isHttpAddress(text), { error: 'must be empty, or an http(s) address' }),
  '',
  'server of the bucket for backups, such as https://s3.example.com; empty: AWS. AWS_ENDPOINT_URL overrides it',
);
export const s3Region = setting(
  'backup.s3_region',
  z
    .string()
    .trim()
    .regex(/^[a-z0-9-]{1,50}$/, { error: 'must be the name of a region' }),
  'us-east-1',
  'region of the bucket for backups. AWS_REGION overrides it',
);
export const s3KeyId = setting(
  'backup.s3_access_key_id',
  z.string().trim().max(500),
  '',
  'access key of the bucket for backups. AWS_ACCESS_KEY_ID overrides it',
);
export const s3Secret = setting(
  'backup.s3_secret_key',
  z.string().trim().max(500),
  '',
  'secret of the access key for backups. AWS_SECRET_ACCESS_KEY overrides it',
  { secret: true },
);

export const backupSettings: readonly Setting[] = [
  ...[destination, time, everyHours, keep, uploads],
  ...[s3Endpoint, s3Region, s3KeyId, s3Secret],
];
