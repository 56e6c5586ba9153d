/** The size of an entry, without its row of the table. */
export const entryBytes = 3;

const tokenBits = 18;
const maxTokens = 2 ** tokenBits - 1;
/** This value instead of a number of requests: the tokens bits are the index of a table row. */
const inTable = 63;
const rowBytes = 4 + 8;
const noRow = -1;

/**
 * Requests (6 bits) and tokens (18 bits) of a millisecond in 24 bits. Larger values, such as a request of 300,000 tokens or
 * 100 requests in a millisecond, are stored in a table while it has a free row.
 */
export type PackedEntries = {
  requestsAt(at: number): number;
  tokensAt(at: number): number;
  /** Writes an entry. Returns the tokens that did not fit. */
  put(at: number, requests: number, tokens: number): number;
  /** Adds a request to an entry. Returns false, and changes nothing, when it does not fit. */
  add(at: number, tokens: number): boolean;
  /** Releases the table row of an entry that no longer counts. */
  release(at: number): void;
};

export function openPackedEntries({ count, tableBytes }: { count: number; tableBytes: number }): PackedEntries {
  const rowCount = Math.max(64, Math.min(maxTokens, Math.floor(tableBytes / rowBytes)));
  const low = new Uint16Array(count);
  const high = new Uint8Array(count);
  const tableRequests = new Uint32Array(rowCount);
  const tableTokens = new Float64Array(rowCount);
  let unused = 0;
  let free = noRow;

  const packedAt = (at: number) => low[at]! | (high[at]! << 16);
  const rowAt = (at: number) => packedAt(at) & maxTokens;
  const isInTable = (at: number) => high[at]! >>> 2 === inTable;
  const fits = (requests: number, tokens: number) => requests < inTable && tokens <= maxTokens;
  const pack = (at: number, requests: number, tokens: number) => {
    low[at] = tokens;
    high[at] = (requests << 2) | (tokens >>> 16);
  };
  /** Returns false when the table is full. */
  const writeInTable = (at: number, requests: number, tokens: number): boolean => {
    let row = free;
    if (row !== noRow) free = tableTokens[row]!;
    else if (unused === rowCount) return false;
    else {
      row = unused;
      unused += 1;
    }
    pack(at, inTable, row);
    tableRequests[row] = requests;
    tableTokens[row] = tokens;
    return true;
  };
  const requestsAt = (at: number) => (isInTable(at) ? tableRequests[rowAt(at)]! : high[at]! >>> 2);
  const tokensAt = (at: number) => (isInTable(at) ? tableTokens[rowAt(at)]! : rowAt(at));

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
        const row = rowAt(at);
        tableRequests[row] = tableRequests[row]! + 1;
        tableTokens[row] = tableTokens[row]! + tokens;
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
      const row = rowAt(at);
      tableTokens[row] = free;
      free = row;
    },
  };
}
