import { bit, id, list, requiredText, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxPermissions } from './limits.ts';

export const loginBody = z.object({
  username: requiredText(64).meta({ examples: ['demo'] }),
  password: z
    .string()
    .min(1)
    .max(256)
    .meta({ format: 'password', examples: ['demo123456'] }),
});
export const adminLoginBody = z.object({
  username: requiredText(64).meta({ examples: ['admin'] }),
  password: z
    .string()
    .min(1)
    .max(256)
    .meta({ format: 'password', examples: ['admin123'] }),
});
export const loginView = z.object({ token: z.string().meta({ examples: ['eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl'] }) });

const mobile = /^1\d{10}$/;
const phone = () =>
  text(32)
    .trim()
    .refine((value) => mobile.test(value), { params: { fault: 'mobile' } })
    .meta({ pattern: mobile.source, examples: ['13800000000'] });
export const smsSendBody = z.object({ phone: phone() });
export const smsSendView = z.object({
  dev_code: z
    .string()
    .optional()
    .meta({ description: 'The code; only with the provider test', examples: ['123456'] }),
});
/** Body of the login by SMS, and of the deletion of the account. */
export const smsCodeBody = z.object({
  phone: phone(),
  code: text(16)
    .trim()
    .min(1)
    .meta({ examples: ['123456'] }),
});
export const wechatBody = z.object({ code: requiredText(256).meta({ examples: ['0a1Bcd2e3'] }) });
export const wechatView = loginView.extend({ open_id: z.string().meta({ examples: ['oXyZ1234'] }) });

/** The profile of the shopper. It has no user name and no role, as the API contract says. */
export const userProfileView = z
  .object({
    id: id(),
    phone: z.string().meta({ examples: ['138****0000'] }),
    nickname: z.string().meta({ examples: ['Demo'] }),
    avatar: z.string().meta({ examples: [''] }),
    points: z.int(),
    status: bit(),
    created_at: timestamp(),
  })
  .meta({ id: 'UserProfile' });

/** The profile of a shopper or an administrator, depending on `role`. Fields of the other kind are absent. */
export const profileView = z
  .object({
    id: id(),
    role: z.enum(['user', 'admin']),
    username: z.string().meta({ examples: ['demo'] }),
    created_at: timestamp(),
    status: z.int(),
    phone: z
      .string()
      .optional()
      .meta({ examples: ['138****0000'] }),
    nickname: z
      .string()
      .optional()
      .meta({ examples: ['Demo'] }),
    avatar: z
      .string()
      .optional()
      .meta({ examples: [''] }),
    points: z.int().optional(),
    role_name: z
      .string()
      .optional()
      .meta({ examples: ['Administrator'] }),
    perms: list(z.string(), maxPermissions)
      .optional()
      .meta({ examples: [['*']] }),
  })
  .meta({ id: 'Profile' });

export const addressBody = z.object({
  name: requiredText(64).meta({ examples: ['Li Wei'] }),
  phone: requiredText(32)
    .regex(/^\+?[0-9][0-9 -]{4,30}$/)
    .meta({ examples: ['13800000000'] }),
  province: text(64)
    .default('')
    .meta({ examples: ['Zhejiang'] }),
  city: text(64)
    .default('')
    .meta({ examples: ['Hangzhou'] }),
  district: text(64)
    .default('')
    .meta({ examples: ['Xihu'] }),
  detail: text(256)
    .default('')
    .meta({ examples: ['12 Lakeside Road'] }),
  is_default: z
    .union([z.literal(0), z.literal(1), z.boolean()])
    .default(0)
    .meta({ examples: [1] }),
});

export const addressView = z
  .object({
    id: id(),
    user_id: id(),
    name: z.string().meta({ examples: ['Li Wei'] }),
    phone: z.string().meta({ examples: ['13800000000'] }),
    province: z.string().meta({ examples: ['Zhejiang'] }),
    city: z.string().meta({ examples: ['Hangzhou'] }),
    district: z.string().meta({ examples: ['Xihu'] }),
    detail: z.string().meta({ examples: ['12 Lakeside Road'] }),
    is_default: bit(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Address' });
