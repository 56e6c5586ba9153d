import type { Dimension, Limits } from '@tradepost/rate-limiter';

/** The owner and the limits of one API token, as an administrator reads them. */
export type TokenFacts = {
  readonly userId: number;
  readonly limits: Pick<Limits, 'user_rpm' | 'user_tpm' | 'token_rpm' | 'token_tpm'>;
};
export type GatewayFacts = {
  /** By index of the token; undefined for a token that was not found. */
  readonly tokens: readonly (TokenFacts | undefined)[];
  readonly ip_rpm: number;
  readonly model: { readonly rpm: number; readonly tpm: number } | null;
};

/** The limits of a gateway, as far as a client knows them: given on the command line, read by an administrator, or learned. */
export class KnownLimits {
  readonly #given: Partial<Limits>;
  readonly #facts: GatewayFacts | null;
  /** By dimension and token: the highest limit that a refusal named. */
  readonly #learned = new Map<string, number>();

  constructor(given: Partial<Limits>, facts: GatewayFacts | null) {
    this.#given = given;
    this.#facts = facts;
  }

  /** A refusal of this token named the limit of a dimension. */
  learn(token: number, dimension: Dimension, limit: number): void {
    const key = `${dimension} ${token}`;
    this.#learned.set(key, Math.max(limit, this.#learned.get(key) ?? 0));
  }

  /** The limit that these tokens share in a dimension. 0 is unlimited, undefined is unknown. */
  limitOf(dimension: Dimension, tokens: readonly number[]): number | undefined {
    const known = this.#given[dimension] ?? this.#read(dimension, tokens[0]!);
    if (known !== undefined) return known;
    const learned = tokens.flatMap((token) => this.#learned.get(`${dimension} ${token}`) ?? []);
    return learned.length > 0 ? Math.max(...learned) : undefined;
  }

  #read(dimension: Dimension, token: number): number | undefined {
    const facts = this.#facts;
    if (!facts) return undefined;
    if (dimension === 'ip_rpm') return facts.ip_rpm;
    if (dimension === 'model_rpm') return facts.model?.rpm;
    if (dimension === 'model_tpm') return facts.model?.tpm;
    return facts.tokens[token]?.limits[dimension];
  }
}
