/** An endpoint without its secrets. */
export type Endpoint = {
  readonly id: number;
  readonly url: string;
  readonly description: string;
  /** Empty: all kinds. */
  readonly event_kinds: readonly string[];
  readonly enabled: boolean;
  readonly disabled_reason: '' | 'gone' | 'dead';
  readonly disabled_at: Date | null;
  readonly previous_secret_until: Date | null;
  readonly failing_since: Date | null;
  readonly last_success_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export type EndpointFields = Pick<Endpoint, 'url' | 'description' | 'event_kinds' | 'enabled'>;
