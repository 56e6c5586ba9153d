/**
 * Who changes rows. The change log records it with each changed row (triggers of `change_log.watch`). It comes from the
 * verified token and the connection, never from the fields of a request.
 */
export type ChangeActor = {
  readonly source: 'api' | 'cli';
  /** The id of the administrator. Null for a command, whose actor is a user of the operating system. */
  readonly staff_id: number | null;
  /** The name of the user of the operating system. Absent for an administrator: the change log reads the name by its id. */
  readonly name?: string;
  /** The address of the client. Empty for a command. */
  readonly address: string;
  readonly request_id: string;
  /** The route (`PUT /admin/api/products/:id`) or the command (`settings set`). */
  readonly action: string;
};

/** The setting of PostgreSQL that has the actor. A session without it is not logged. */
export const actorSetting = 'tradepost.actor';
