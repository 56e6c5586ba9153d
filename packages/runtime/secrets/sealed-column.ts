/** A column whose values `runtime.secrets.seal` has made. A package lists its columns in `Module.sealed`. */
export type SealedColumn = {
  /** `webhooks.endpoints` */
  readonly table: string;
  /** The primary key of the table, one column. */
  readonly key: string;
  readonly column: string;
  /** The column is jsonb, with the sealed text as a JSON string. Default: a text column. */
  readonly json?: boolean;
  /** The name that the secret of a row is sealed with. The key comes as text. */
  readonly nameOf: (key: string) => string;
};
