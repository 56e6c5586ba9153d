import { z } from 'zod';
import { callNames, retryableCodes } from '../protocol.ts';

const rate = (about: string) => z.number().min(0).max(1).default(0).describe(about);
const ms = (about: string) => z.number().int().min(0).max(3_600_000).default(0).describe(about);
const isHttp = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Everything that may be changed while it runs. */
const behaviourSchema = z
  .strictObject({
    delayMs: ms('before a call is looked at'),
    jitterMs: ms('up to so much more, at random'),

    failRate: rate('of calls, answered with one of failCodes'),
    failCodes: z
      .array(z.int().min(1))
      .min(1)
      .default([...retryableCodes]),
    hangRate: rate('of calls, never answered'),
    htmlRate: rate('of calls, answered with a page, HTTP 200 or 502'),
    stringCodeRate: rate('of calls, answered with code "0"'),
    closeRate: rate('of calls, whose connection is cut'),
    failAfter: rate('of these faults, which strike after the work was done; the others before').default(0.5),
    faultsPerKey: z.number().int().min(0).default(1_000_000).describe('so many per idempotency key at most'),
    faultCalls: z
      .array(z.enum(callNames))
      .default([...callNames])
      .describe('calls that faults may strike'),
    rememberRefusals: z
      .boolean()
      .default(true)
      .describe('false: what was refused is looked at anew when it is repeated'),

    callbacks: z
      .enum(['none', 'async'])
      .default('none')
      .describe('async: code 0 means accepted, a callback tells the end'),
    callbackUrl: z.string().default('').describe('address at the shop'),
    callbackDelayMs: ms('from accepting to the callback'),
    callbackJitterMs: ms('up to so much more, at random'),
    carryOut: z.enum(['at_once', 'later']).default('at_once').describe('later: with the callback'),
    refusalsBy: z
      .enum(['code', 'callback'])
      .default('code')
      .describe('how an action is refused that is carried out at once'),
    duplicateRate: rate('of callbacks, sent twice'),
    lateRate: rate('of callbacks, sent lateMs later'),
    lateMs: ms('see lateRate').default(5_000),
    earlyRate: rate('of callbacks, sent before the call is answered'),
    failedCallbackRate: rate('of actions, refused by a callback for no reason'),
    processingFirstRate: rate('of callbacks, preceded by one that says processing'),
    lostCallbackRate: rate('of callbacks, not sent before the action is delivered again'),
    callbackAttempts: z.number().int().min(1).max(1_000).default(10),
    callbackPauseMs: z.number().int().min(1).max(60_000).default(200).describe('after the first attempt, then doubled'),
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

/** `given` over `current`, or what is wrong with it. */
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
