import { bit, id, list, requiredText, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxPermissions } from '../limits.ts';

/** The example is not 1, because 1 is the id of the first administrator and of the role with all permissions. */
const otherId = () =>
  z
    .int()
    .min(1)
    .meta({ examples: [2] });
export const accountParams = z.object({ id: otherId() });

export const usernamePattern = /^[\w.@-]{2,64}$/;
export const minPassword = 8;

const username = () =>
  text(64)
    .trim()
    .regex(usernamePattern)
    .meta({ examples: ['ann'] });
const status = () => z.union([z.literal(0), z.literal(1)]).meta({ examples: [1] });

export const staffBody = z.object({
  username: username(),
  password: text(256)
    .min(minPassword)
    .meta({ format: 'password', examples: ['correct horse battery'] }),
  role_id: otherId(),
  status: status().default(1),
});
/** A field that is absent is not changed. */
export const staffChangeBody = z.object({
  username: username().optional(),
  password: text(256)
    .regex(/^(|.{8,})$/s)
    .optional()
    .meta({
      format: 'password',
      description: 'An empty value keeps the password',
      examples: ['correct horse battery'],
    }),
  role_id: otherId().optional(),
  status: status().optional(),
});
export const staffView = z
  .object({
    id: id(),
    username: z.string().meta({ examples: ['ann'] }),
    role_id: id(),
    status: bit(),
    created_at: timestamp(),
  })
  .meta({ id: 'Administrator' });

const permissions = () =>
  z
    .array(requiredText(64))
    .max(maxPermissions)
    .meta({ examples: [['system:admin']] });
export const roleBody = z.object({
  name: requiredText(64).meta({ examples: ['Team lead'] }),
  permissions: permissions().default([]),
});
export const roleChangeBody = z.object({
  name: requiredText(64)
    .optional()
    .meta({ examples: ['Team lead'] }),
  permissions: permissions().optional(),
});
export const roleView = z
  .object({ id: id(), name: z.string(), permissions: list(z.string(), maxPermissions), created_at: timestamp() })
  .meta({ id: 'Role' });
