import { type createClient, NoAnswerError, RefusalError } from '@tradepost/client';

export type Step = { step: string; ms: number; result: string };

/** A step failed, or its result is not the expected one. */
export class StoryError extends Error {
  override name = 'StoryError';
}

const noDemoHint =
  'Only a demo shop has the accounts of the story: tradepost start on an empty data folder makes one. Name another server with ' +
  '--url, or other accounts with --username and --admin-username';
const refusesDemo = (error: RefusalError) => error.code === 401 && error.path.endsWith('/auth/login');

/** Turns an error of the client into a message for the operator. */
function readableError(error: unknown): unknown {
  if (error instanceof RefusalError) {
    const refusal = `${error.method} ${error.path}: ${error.message} (code ${error.code})`;
    return new StoryError(refusesDemo(error) ? `${refusal}. ${noDemoHint}` : refusal);
  }
  if (error instanceof NoAnswerError && error.reason === 'unreachable')
    return new StoryError(`${error.message}; run \`tradepost start\` first`);
  return error;
}

export const money = (value: number) => value.toFixed(2);

export type Client = ReturnType<typeof createClient>;
export type Login = { username: string; password: string };

/** Runs and records steps. */
export class Story {
  readonly steps: Step[] = [];
  readonly #onStep: (step: Step) => void;

  constructor(onStep: (step: Step) => void) {
    this.#onStep = onStep;
  }

  async step<T>(step: string, act: () => Promise<T>, result: (value: T) => string): Promise<T> {
    const begun = performance.now();
    const value = await act().catch((error: unknown) => {
      throw readableError(error);
    });
    const ended = { step, ms: Math.round((performance.now() - begun) * 10) / 10, result: result(value) };
    this.steps.push(ended);
    this.#onStep(ended);
    return value;
  }

  expect(condition: boolean, what: string): void {
    if (!condition) throw new StoryError(what);
  }
}
