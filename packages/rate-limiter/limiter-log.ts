type Write = { (message: string): void; (fields: object, message: string): void };

/** The logger that the caller passes to the limiter. A pino logger fits. */
export type LimiterLog = { readonly info: Write; readonly warn: Write };
