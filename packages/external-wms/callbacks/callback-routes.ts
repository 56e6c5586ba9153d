import { createHash } from 'node:crypto';
import { defineRoute, type Route } from '@tradepost/http';
import type { WriteOrderStatus } from '@tradepost/inventory';
import { openCountedWarning, type Runtime } from '@tradepost/runtime';
import { externalWmsErrors as errors } from '../errors.ts';
import { partnerText } from '../protocol/answer.ts';
import { signatureFits } from '../protocol/signature.ts';
import { callbackEnabled, externalAppKey, externalAppSecret, signatureTtl } from '../settings.ts';
import { type CallbackBody, callbackAnswer, callbackBody, innerBody } from './callback-schemas.ts';
import { type Callback, type CallbackReceipt, receiveCallbacks } from './receive-callbacks.ts';

/** Far more than a callback needs. */
const maxCallbackBytes = 65_536;

/** What a signed callback says. Only what is in `body` is signed, so the same fields beside it do not count. */
function readInner({ body, nonce }: CallbackBody, secret: string): Callback {
  let inner: unknown;
  try {
    inner = JSON.parse(body);
  } catch {
    throw errors.callback_body({ reason: 'is not valid JSON' });
  }
  const parsed = innerBody.safeParse(inner);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue!.path.join('.');
    throw errors.callback_body({ reason: field === '' ? 'is not a JSON object' : `${field} is missing or not a text` });
  }
  const { request_id, callback_id, status, message } = parsed.data;
  return {
    ...{ request_id, body, nonce, status },
    // Without an id of its own a message is the same one when it says the same.
    callback_id: callback_id || `sha256:${createHash('sha256').update(body).digest('hex')}`,
    message: partnerText(message, secret),
  };
}

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'log' | 'groupCommit'>;
  writeOrderStatus: WriteOrderStatus;
};

/** Takes one callback as it came; throws the refusal, which leaves no trace unless the task is unknown. */
function openReceiver({ runtime, writeOrderStatus }: Deps) {
  const { settings } = runtime;
  const take = runtime.groupCommit<Callback, CallbackReceipt>('external_callbacks', (many) =>
    receiveCallbacks({ runtime, writeOrderStatus }, many),
  );
  const warn = openCountedWarning(runtime.log, 'warehouse callbacks were refused for their signature');
  const notTheirs = (refusal: Error): Error => {
    warn({ reason: refusal.message });
    return refusal;
  };

  return async (outer: CallbackBody): Promise<CallbackReceipt> => {
    const key = settings.get(externalAppKey);
    const secret = settings.get(externalAppSecret);
    // Nobody can have signed anything: what is missing is the operator's to know (tradepost doctor).
    if (secret === '' || key === '') throw errors.callbacks_off();
    if (outer.app_key !== key) throw notTheirs(errors.callback_app_key());
    if (!signatureFits(outer, secret, outer.sign)) throw notTheirs(errors.callback_signature());
    // Only who can sign is told about clocks and switches. In whole seconds, as the timestamp is.
    const off = Math.abs(Math.floor(runtime.now().getTime() / 1000) - Number(outer.timestamp));
    if (off > settings.get(signatureTtl)) throw notTheirs(errors.callback_timestamp());
    if (!settings.get(callbackEnabled)) throw errors.callbacks_off();
    return take(readInner(outer, secret));
  };
}

export function callbackRoutes(deps: Deps): Route[] {
  const receive = openReceiver(deps);
  return [
    defineRoute({
      method: 'POST',
      path: '/admin/api/external-wms/callback',
      auth: 'public',
      tag: 'Inventory',
      summary: 'What the external warehouse calls back about a task, signed; as often as it likes',
      description:
        '`body` is the inner JSON as text and the only part that is signed beside `app_key`, `timestamp` and `nonce`: what else ' +
        'stands beside it is not read. Inner `status`: success and failed end the task, any other says that it goes on. Code 0 ' +
        'means that the message needs no repeat; any other code is a refusal, whatever the HTTP status. After 500 the same ' +
        'message may be sent again.',
      body: callbackBody,
      bodyLimit: maxCallbackBytes,
      response: callbackAnswer,
      refuses: [
        errors.callbacks_off,
        errors.callback_app_key,
        errors.callback_signature,
        errors.callback_timestamp,
        errors.callback_body,
        errors.callback_nonce,
        errors.callback_id_used,
        errors.callback_unknown_task,
      ],
      repeat: 'natural',
      statements: 12,
      handle: ({ body }) => receive(body),
    }),
  ];
}
