/**
 * Counters, cache and messages that instances share. Their loss is acceptable; facts that must not be lost are in
 * PostgreSQL.
 */
export type Store = {
  readonly kind: 'memory' | 'redis';
  /** Adds `by` and returns the new value. The counter expires `ttlMs` after its first increment. */
  increment(key: string, ttlMs: number, by?: number): Promise<number>;
  /** Subtracts one from an existing counter, and stops at zero. It never creates a counter. */
  decrement(key: string): Promise<void>;
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Sets the value when the key does not exist. Returns whether this call set it. */
  setIfAbsent(key: string, value: string, ttlMs: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  /**
   * Sends a message to the handlers of all instances, including this one. It arrives at most once and is never
   * repeated.
   */
  publish(channel: string, message: string): Promise<void>;
  /** Returns the function that ends the subscription. */
  subscribe(channel: string, handle: (message: string) => void): Promise<() => Promise<void>>;
  /** Rejects when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
};
