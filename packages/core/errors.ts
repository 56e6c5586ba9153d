import { fill, type Locale, type Localized } from './locale.ts';

/** One row of a package's refusal table. `status` is 200 for a refusal by a rule, else the HTTP status of the fault. */
export type Refusal = Localized & { readonly code: number; readonly status?: number };

export type RefusalValues = Readonly<Record<string, string | number>>;

/** A refusal that reaches the caller: envelope code, HTTP status and a message in the caller's language. */
export class AppError extends Error {
  readonly refusalName: string;
  readonly refusal: Refusal;
  readonly values: RefusalValues;

  constructor(name: string, refusal: Refusal, values: RefusalValues = {}) {
    super(fill(refusal.en, values));
    this.name = 'AppError';
    this.refusalName = name;
    this.refusal = refusal;
    this.values = values;
    // A refusal is an answer, not a fault: its stack is never read, and a flash sale makes thousands a second.
    this.stack = undefined;
  }

  get code(): number {
    return this.refusal.code;
  }

  get status(): number {
    return this.refusal.status ?? 200;
  }

  messageIn(locale: Locale): string {
    return fill(this.refusal[locale], this.values);
  }
}

/**
 * Makes the refusal of one row: `orderErrors.cart_empty()`. It carries the row, so that a route can list it in `refuses`
 * and the API document can show its code and text.
 */
export type RefusalFactory = {
  (values?: RefusalValues): AppError;
  readonly refusalName: string;
  readonly refusal: Refusal;
};

/** Turns a table of refusals into one factory per row. */
export function defineErrors<T extends Record<string, Refusal>>(table: T): { readonly [K in keyof T]: RefusalFactory } {
  const factories: Record<string, RefusalFactory> = {};
  for (const [refusalName, refusal] of Object.entries(table)) {
    const make = (values?: RefusalValues) => new AppError(refusalName, refusal, values);
    factories[refusalName] = Object.assign(make, { refusalName, refusal });
  }
  return factories as { [K in keyof T]: RefusalFactory };
}
