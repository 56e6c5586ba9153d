/** The part of a socket that a hub uses. */
export type Member = {
  sendEncoded(bytes: Buffer, binary: boolean): boolean;
  close(code?: number, reason?: string): void;
};

/** Sends to groups of open sockets of this process, for example all sockets of an account or of a chat. */
export type Hub<S> = {
  /**
   * Encodes the frame once and sends it to every socket of the group except `except`. Returns the number of sockets
   * that accepted it.
   */
  send(group: string, frame: S, except?: object): number;
  sendBinary(group: string, bytes: Uint8Array, except?: object): number;
  /** Closes every socket of the group, for example when its account logs out. */
  close(group: string, code?: number, reason?: string): void;
  size(group: string): number;
};

/** The part of a hub that its sockets use. */
export type HubMembers = {
  join(group: string, member: Member): void;
  leave(group: string, member: Member): void;
};

const members = new WeakMap<object, HubMembers>();

export const membersOf = (hub: Hub<never>): HubMembers => members.get(hub)!;

export const encodeFrame = (frame: unknown): Buffer => Buffer.from(JSON.stringify(frame));

export function createHub<S>(): Hub<S> {
  const groups = new Map<string, Set<Member>>();
  // Iterates over a copy, because a member that cannot be sent to leaves its groups.
  const sendAll = (group: string, bytes: Buffer, binary: boolean, except?: object): number => {
    let sent = 0;
    for (const member of [...(groups.get(group) ?? [])])
      if (member !== except && member.sendEncoded(bytes, binary)) sent += 1;
    return sent;
  };
  const hub: Hub<S> = {
    send: (group, frame, except) => (groups.has(group) ? sendAll(group, encodeFrame(frame), false, except) : 0),
    sendBinary: (group, bytes, except) => sendAll(group, Buffer.from(bytes), true, except),
    close(group, code, reason) {
      for (const member of [...(groups.get(group) ?? [])]) member.close(code, reason);
    },
    size: (group) => groups.get(group)?.size ?? 0,
  };
  members.set(hub, {
    join(group, member) {
      const known = groups.get(group);
      if (known) known.add(member);
      else groups.set(group, new Set([member]));
    },
    leave(group, member) {
      const known = groups.get(group);
      if (known?.delete(member) && known.size === 0) groups.delete(group);
    },
  });
  return hub;
}
