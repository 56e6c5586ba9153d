import { z } from 'zod';
import { callNames, retryableCodes } from '../protocol.ts';

const rate = (about: string) => z.number().min(0).max(1).default(0).describe(about);
const ms = (about: string) => z.number().int().min(0).max(3_600_000).default(0).describe(about);
const isHttp = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** The options that can change while the simulator runs. */
const behaviourSchema = z
  .strictObject({
    delayMs: ms('pause before a call is handled'),
    jitterMs: ms('largest random addition to delayMs'),

    failRate: rate('share of calls that get one of failCodes'),
    failCodes: z
      .array(z.int().min(1))
      .min(1)
      .default([...retryableCodes]),
    hangRate: rate('share of calls that get no answer'),
    htmlRate: rate('share of calls that get an HTML page, HTTP 200 or 502'),
    stringCodeRate: rate('share of calls that get the code "0" as a text'),
    closeRate: rate('share of calls whose connection is cut'),
    failAfter: rate('share of these faults that happen after the work is done; the others happen before').default(0.5),
    faultsPerKey: z.number().int().min(0).default(1_000_000).describe('largest number of faults per idempotency key'),
    faultCalls: z
      .array(z.enum(callNames))
      .default([...callNames])
      .describe('calls that can have faults'),
    rememberRefusals: z
      .boolean()
      .default(true)
      .describe('false: a refused action is decided again when it is repeated'),

    callbacks: z
      .enum(['none', 'async'])
      .default('none')
      .describe('async: code 0 means accepted, and a callback reports the result'),
    callbackUrl: z.string().default('').describe('URL of the shop for callbacks'),
    callbackDelayMs: ms('time between accepting and the callback'),
    callbackJitterMs: ms('largest random addition to callbackDelayMs'),
    carryOut: z
      .enum(['at_once', 'later'])
      .default('at_once')
      .describe('later: the work is done together with the callback'),
    refusalsBy: z
      .enum(['code', 'callback'])
      .default('code')
      .describe('way of refusing an action with carryOut at_once'),
    duplicateRate: rate('share of callbacks that are sent twice'),
    lateRate: rate('share of callbacks that are sent lateMs later'),
    lateMs: ms('delay of late callbacks').default(5_000),
    earlyRate: rate('share of callbacks that are sent before the call is answered'),
    failedCallbackRate: rate('share of actions that are refused by a callback without reason'),
    processingFirstRate: rate('share of callbacks that follow a callback with status processing'),
    lostCallbackRate: rate('share of callbacks that are sent only when the action is delivered again'),
    callbackAttempts: z.number().int().min(1).max(1_000).default(10),
    callbackPauseMs: z
      .number()
      .int()
      .min(1)
      .max(60_000)
      .default(200)
      .describe('pause after the first attempt; it doubles'),
    callbackTimeoutMs: z.number().int().min(1).max(60_000).default(5_000),
  })
  .refine((of) => of.failRate + of.hangRate + of.htmlRate + of.stringCodeRate + of.closeRate <= 1, {
    error: 'failRate, hangRate, htmlRate, stringCodeRate and closeRate add up to more than 1',
  })
  .refine((of) => of.callbacks === 'none' || isHttp(of.callbackUrl), {
    error: 'an http or https address is needed with callbacks async',
    path: ['callbackUrl'],
  });
export type Behaviour = Readonly<z.infer<typeof behaviourSchema>>;
export type BehaviourOptions = Partial<Behaviour>;

/** The options of `given`, with `current` as defaults. Returns the faults when the result is not valid. */
export function changedBehaviour(
  given: object,
  current: BehaviourOptions = {},
): { behaviour: Behaviour } | { faults: string[] } {
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const result = behaviourSchema.safeParse({ ...current, ...known });
  if (result.success) return { behaviour: result.data };
  return {
    faults: result.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')),
  };
}
