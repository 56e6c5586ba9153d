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

/** A callback needs far less. */
const maxCallbackBytes = 65_536;

/** Reads the inner body of a callback. Only the inner body is signed, so fields of the outer body are ignored. */
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
    // A callback without an id is identified by its content.
    callback_id: callback_id || `sha256:${createHash('sha256').update(body).digest('hex')}`,
    message: partnerText(message, secret),
  };
}

type Deps = {
  runtime: Pick<Runtime, 'sql' | 'now' | 'settings' | 'log' | 'groupCommit'>;
  writeOrderStatus: WriteOrderStatus;
};

/** Makes the function that receives one callback or throws its refusal. A refused callback is stored only when its task is unknown. */
function openReceiver({ runtime, writeOrderStatus }: Deps) {
  const { settings } = runtime;
  const receive = runtime.groupCommit<Callback, CallbackReceipt>('external_callbacks', (callbacks) =>
    receiveCallbacks({ runtime, writeOrderStatus }, callbacks),
  );
  const warn = openCountedWarning(runtime.log, 'warehouse callbacks were refused for their signature');
  const withWarning = (refusal: Error): Error => {
    warn({ reason: refusal.message });
    return refusal;
  };

  return async (outer: CallbackBody): Promise<CallbackReceipt> => {
    const key = settings.get(externalAppKey);
    const secret = settings.get(externalAppSecret);
    // Without a key no caller can sign. The answer does not say which setting is missing; `tradepost doctor` does.
    if (secret === '' || key === '') throw errors.callbacks_off();
    if (outer.app_key !== key) throw withWarning(errors.callback_app_key());
    if (!signatureFits(outer, secret, outer.sign)) throw withWarning(errors.callback_signature());
    // The timestamp and the setting callback_enabled are checked last, so that only a caller with a valid signature
    // learns about them. The timestamp has whole seconds.
    const difference = Math.abs(Math.floor(runtime.now().getTime() / 1000) - Number(outer.timestamp));
    if (difference > settings.get(signatureTtl)) throw withWarning(errors.callback_timestamp());
    if (!settings.get(callbackEnabled)) throw errors.callbacks_off();
    return receive(readInner(outer, secret));
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
      summary: 'Receive a signed callback of the external warehouse about a task; repeats are allowed',
      description:
        '`body` is the inner JSON as text. The signature covers `app_key`, `timestamp`, `nonce` and `body`; other fields are ' +
        'ignored. Inner `status`: success and failed end the task, any other value means that the task continues. Code 0 means ' +
        'that the callback needs no repeat. Any other code is a refusal, whatever the HTTP status is. After code 500 the same ' +
        'callback may be repeated.',
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
