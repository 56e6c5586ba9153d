type Write = { (message: string): void; (fields: object, message: string): void };

/** The log that the limiter writes to. A pino logger fits. */
export type LimiterLog = { readonly info: Write; readonly warn: Write };
