const DIGITS = /^\d{1,15}$/;
const CLOSE = /(?:^|,)\s*close\s*(?:,|$)/i;

/** How the body of a request is delimited. All calls share one object: read it before the next call. */
type Framing = {
  /** Bytes of the body; `CHUNKED`; or `MALFORMED` where two readers could disagree about the end of the request. */
  length: number;
  /** The client closes the connection after this request. */
  close: boolean;
};
export const CHUNKED = -1;
export const MALFORMED = -2;

const framing: Framing = { length: 0, close: false };

/** True when a list of Connection options contains `close`. */
const isClose = (value: string): boolean => value.length >= 5 && CLOSE.test(value);

/**
 * Reads the framing from an array in which header names (lower case) and values alternate. Malformed are: a length that
 * is not a number or is repeated, an encoding other than `chunked`, length and encoding together, several hosts.
 */
export const framingOf = (flat: readonly string[]): Framing => {
  let length = -3;
  let chunked = false;
  let hosts = 0;
  let malformed = false;
  framing.close = false;
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] as string;
    switch (name.length) {
      case 4:
        if (name === 'host') hosts++;
        break;
      case 10:
        if (name === 'connection' && isClose(flat[i + 1] as string)) framing.close = true;
        break;
      case 14:
        if (name === 'content-length') {
          const value = flat[i + 1] as string;
          if (length !== -3 || !DIGITS.test(value)) malformed = true;
          else length = Number(value);
        }
        break;
      case 17:
        if (name === 'transfer-encoding') {
          if (chunked || (flat[i + 1] as string).toLowerCase() !== 'chunked') malformed = true;
          chunked = true;
        }
    }
  }
  if (malformed || hosts > 1 || (chunked && length !== -3)) framing.length = MALFORMED;
  else framing.length = chunked ? CHUNKED : Math.max(0, length);
  return framing;
};
