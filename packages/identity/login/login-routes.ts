import { clientAddress, defineRoute, nothing, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { identityErrors } from '../errors.ts';
import type { Messenger } from '../messages/messenger.ts';
import {
  adminLoginBody,
  loginBody,
  loginView,
  smsCodeBody,
  smsSendBody,
  smsSendView,
  wechatBody,
  wechatView,
} from '../schemas.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { openLoginLimits } from './attempt-limits.ts';
import { openReservations } from './attempt-reservations.ts';
import { loginAdministrator, loginAnyone } from './login.ts';
import { deleteAccount, loginBySms, loginByWechat } from './shopper-logins.ts';
import { sendCode } from './sms-codes.ts';

const passwordRefusals = [
  identityErrors.invalid_login,
  identityErrors.account_disabled,
  identityErrors.too_many_failures,
];

export function loginRoutes(runtime: Runtime, tokens: Tokens, messenger: Messenger): Route[] {
  const reservations = openReservations(runtime);
  const limits = openLoginLimits(runtime, reservations);
  const deps = { runtime, tokens, limits };
  const addressOf = (request: Request) => clientAddress(request, runtime.config.trustedProxies);

  return [
    defineRoute({
      method: 'POST',
      path: '/api/auth/login',
      auth: 'public',
      tag: 'Accounts',
      summary: 'Log in as a shopper or an administrator',
      statements: 2,
      repeat: 'natural',
      body: loginBody,
      response: loginView,
      refuses: passwordRefusals,
      handle: async ({ body, request }) => ({
        token: await loginAnyone(deps, { ...body, address: addressOf(request) }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/admin/api/auth/login',
      auth: 'public',
      tag: 'Accounts',
      summary: 'Log in as an administrator',
      statements: 1,
      repeat: 'natural',
      body: adminLoginBody,
      response: loginView,
      refuses: passwordRefusals,
      handle: async ({ body, request }) => ({
        token: await loginAdministrator(deps, { ...body, address: addressOf(request) }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/sms/send',
      auth: 'public',
      tag: 'Accounts',
      summary: 'Send a login code to a phone',
      description:
        'The code has six digits. It is valid for five minutes and one use. A newer code replaces an older one.',
      statements: 2,
      body: smsSendBody,
      response: smsSendView,
      refuses: [identityErrors.sms_not_set_up, identityErrors.sms_too_many, identityErrors.sms_too_soon],
      async handle({ body, request }) {
        const code = await sendCode({ runtime, messenger, reservations }, body.phone, addressOf(request));
        return code === null ? {} : { dev_code: code };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/sms/login',
      auth: 'public',
      tag: 'Accounts',
      summary: 'Log in with the code sent to a phone; for an unknown phone an account is created',
      statements: 4,
      body: smsCodeBody,
      response: loginView,
      refuses: [
        identityErrors.login_code_wrong,
        identityErrors.login_code_expired,
        identityErrors.login_code_dead,
        identityErrors.sms_account_disabled,
        identityErrors.too_many_failures,
      ],
      handle: async ({ body, request, locale }) => ({
        token: await loginBySms(deps, { ...body, address: addressOf(request), locale }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/auth/wechat/miniapp',
      auth: 'public',
      tag: 'Accounts',
      summary: 'Log in with the code of a WeChat mini program; for a new user an account is created',
      statements: 2,
      body: wechatBody,
      response: wechatView,
      refuses: [
        identityErrors.wechat_off,
        identityErrors.wechat_failed,
        identityErrors.account_disabled,
        identityErrors.too_many_failures,
      ],
      handle: ({ body, request, locale }) => loginByWechat(deps, { ...body, address: addressOf(request), locale }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/user/delete',
      auth: 'shopper',
      tag: 'Accounts',
      summary: 'Delete my account; the request is confirmed by a code sent to its phone',
      statements: 9,
      body: smsCodeBody,
      response: nothing,
      refuses: [
        identityErrors.delete_no_user,
        identityErrors.delete_other_phone,
        identityErrors.delete_code_wrong,
        identityErrors.delete_code_expired,
        identityErrors.delete_code_dead,
        identityErrors.too_many_failures,
      ],
      async handle({ caller, body, request }) {
        await deleteAccount(deps, caller.id, { ...body, address: addressOf(request) });
        return null;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/auth/logout',
      auth: 'any',
      notLogged: 'A logout ends a token and changes nothing of the shop.',
      tag: 'Accounts',
      summary: 'Revoke the token of this request on all instances',
      statements: 2,
      repeat: 'natural',
      response: nothing,
      async handle({ caller }) {
        await tokens.revoke(caller);
        return null;
      },
    }),
  ];
}
