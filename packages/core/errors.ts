import { fill, type Locale, type Localized } from './locale.ts';

/**
 * One row of the refusal table of a package. `status` is 200 for a refusal by a rule, or the HTTP status of the fault.
 */
export type Refusal = Localized & { readonly code: number; readonly status?: number };

export type RefusalValues = Readonly<Record<string, string | number>>;

/** A refusal for the caller: envelope code, HTTP status, and a message in the language of the caller. */
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
    // A refusal is an answer and not a fault. Its stack is never read, and a flash sale creates thousands per second.
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
 * Creates the refusal of one row: `orderErrors.cart_empty()`. The factory has the row as properties: a route lists it
 * in `refuses`, and the API document shows its code and text.
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
