/** What an entry takes, without its share of the table. */
export const entryBytes = 3;

const tokenBits = 18;
const maxTokens = 2 ** tokenBits - 1;
/** Instead of a number of requests: the rest says where in the table. */
const inTable = 63;
const placeBytes = 4 + 8;
const none = -1;

/**
 * Requests (6 bits) and tokens (18 bits) of a millisecond in 24 bits. What does not fit, as a request of 300,000 tokens or the
 * hundredth of a busy millisecond, lies in a table beside while there is room.
 */
export type PackedEntries = {
  requestsAt(at: number): number;
  tokensAt(at: number): number;
  /** Writes an entry; answers the tokens for which there is no room. */
  put(at: number, requests: number, tokens: number): number;
  /** Adds a request to an entry; false, with nothing changed, where there is no room. */
  add(at: number, tokens: number): boolean;
  /** The entry counts no more: its place in the table is another's. */
  release(at: number): void;
};

export function openPackedEntries({ count, tableBytes }: { count: number; tableBytes: number }): PackedEntries {
  const places = Math.max(64, Math.min(maxTokens, Math.floor(tableBytes / placeBytes)));
  const low = new Uint16Array(count);
  const high = new Uint8Array(count);
  const tableRequests = new Uint32Array(places);
  const tableTokens = new Float64Array(places);
  let unused = 0;
  let free = none;

  const packedAt = (at: number) => low[at]! | (high[at]! << 16);
  const placeAt = (at: number) => packedAt(at) & maxTokens;
  const isInTable = (at: number) => high[at]! >>> 2 === inTable;
  const fits = (requests: number, tokens: number) => requests < inTable && tokens <= maxTokens;
  const pack = (at: number, requests: number, tokens: number) => {
    low[at] = tokens;
    high[at] = (requests << 2) | (tokens >>> 16);
  };
  /** Whether there was a place. */
  const writeInTable = (at: number, requests: number, tokens: number): boolean => {
    let place = free;
    if (place !== none) free = tableTokens[place]!;
    else if (unused === places) return false;
    else {
      place = unused;
      unused += 1;
    }
    pack(at, inTable, place);
    tableRequests[place] = requests;
    tableTokens[place] = tokens;
    return true;
  };
  const requestsAt = (at: number) => (isInTable(at) ? tableRequests[placeAt(at)]! : high[at]! >>> 2);
  const tokensAt = (at: number) => (isInTable(at) ? tableTokens[placeAt(at)]! : placeAt(at));

  return {
    requestsAt,
    tokensAt,
    put(at, requests, tokens) {
      if (fits(requests, tokens)) {
        pack(at, requests, tokens);
        return 0;
      }
      if (writeInTable(at, requests, tokens)) return 0;
      pack(at, requests, maxTokens);
      return tokens - maxTokens;
    },
    add(at, tokens) {
      if (isInTable(at)) {
        const place = placeAt(at);
        tableRequests[place] = tableRequests[place]! + 1;
        tableTokens[place] = tableTokens[place]! + tokens;
        return true;
      }
      const requests = requestsAt(at) + 1;
      const sum = tokensAt(at) + tokens;
      if (!fits(requests, sum)) return writeInTable(at, requests, sum);
      pack(at, requests, sum);
      return true;
    },
    release(at) {
      if (!isInTable(at)) return;
      const place = placeAt(at);
      tableTokens[place] = free;
      free = place;
    },
  };
}
