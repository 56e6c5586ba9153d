/** Counters, cache and pub/sub: what instances share and may lose. What must not be lost is in PostgreSQL. */
export type Store = {
  readonly kind: 'memory' | 'redis';
  /** Adds `by` and answers the new value; the counter ends `ttlMs` after its first increment. */
  increment(key: string, ttlMs: number, by?: number): Promise<number>;
  /** Takes one from a counter that is there; never below zero, and never makes one. */
  decrement(key: string): Promise<void>;
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Whether this call set it. */
  setIfAbsent(key: string, value: string, ttlMs: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  /** Reaches the handlers of all instances, this one included; at most once, no replay. */
  publish(channel: string, message: string): Promise<void>;
  /** Answers the function that ends the subscription. */
  subscribe(channel: string, handle: (message: string) => void): Promise<() => Promise<void>>;
  /** Rejects when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
};
