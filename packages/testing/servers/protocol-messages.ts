/** The first byte of a message of the PostgreSQL protocol. The first message of a client has no such byte: `startup`. */
export const messageTypes = {
  startup: 0,
  query: 0x51,
  parse: 0x50,
  bind: 0x42,
  sync: 0x53,
  readyForQuery: 0x5a,
} as const;

/** Returns a function that takes the chunks of one direction and calls `onMessage` for each whole message. */
export function openMessageReader(
  onMessage: (type: number, message: Buffer) => void,
  { hasStartup }: { hasStartup: boolean },
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let isStartup = hasStartup;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const header = isStartup ? 0 : 1;
      if (rest.length < header + 4) return;
      const length = header + rest.readInt32BE(header);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      const type = isStartup ? messageTypes.startup : message[0]!;
      isStartup = false;
      onMessage(type, message);
    }
  };
}

/** Reads a text that ends with a zero byte. */
function textAt(message: Buffer, from: number): { text: string; next: number } {
  const end = message.indexOf(0, from);
  return { text: message.toString('utf8', from, end), next: end + 1 };
}

/** Returns a function that finds the SQL text that a message of one client executes. It remembers prepared statements. */
export function openStatementReader(): (type: number, message: Buffer) => string | undefined {
  const prepared = new Map<string, string>();
  return (type, message) => {
    if (type === messageTypes.parse) {
      const name = textAt(message, 5);
      prepared.set(name.text, textAt(message, name.next).text);
    }
    if (type === messageTypes.query) return textAt(message, 5).text;
    if (type === messageTypes.bind) return prepared.get(textAt(message, textAt(message, 5).next).text) ?? '';
    return undefined;
  };
}
