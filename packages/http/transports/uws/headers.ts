import type { HttpRequest } from 'uWebSockets.js';

const NativeHeaders = globalThis.Headers;

const NON_ASCII = /[^\0-\x7f]/;

/** uWS decodes header values as UTF-8. The fetch standard uses one character per byte. */
const byteString = (value: string): string =>
  NON_ASCII.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value;

// HttpRequest.forEach is synchronous. One callback for all requests saves a closure per request.
let forEachTarget: string[] = [];
const forEachPush = (name: string, value: string): void => {
  forEachTarget.push(name, value);
};

export const copyHeaders = (req: HttpRequest): string[] => {
  const flat: string[] = [];
  forEachTarget = flat;
  req.forEach(forEachPush);
  return flat;
};

/**
 * Request headers over the flat array of names and values that `copyHeaders` makes for every request. The framing must
 * be read from all headers, because a query of uWS for one header hides repetitions. Iteration builds a real Headers
 * object.
 */
export class UwsHeaders {
  _flat: readonly string[];
  _native: Headers | null = null;

  constructor(flat: readonly string[]) {
    this._flat = flat;
  }

  get _headers(): Headers {
    if (this._native !== null) return this._native;
    const native = new NativeHeaders();
    const flat = this._flat;
    for (let i = 0; i < flat.length; i += 2) {
      const name = flat[i] as string;
      if (native.has(name)) continue;
      const value = this.get(name);
      if (value !== null) native.append(name, value);
    }
    this._native = native;
    return native;
  }

  get(name: string): string | null {
    if (this._native !== null) return this._native.get(name);
    const lower = name.toLowerCase();
    const flat = this._flat;
    let found: string | null = null;
    for (let i = 0; i < flat.length; i += 2) {
      if (flat[i] !== lower) continue;
      const value = flat[i + 1] as string;
      found = found === null ? value : `${found}, ${value}`;
    }
    return found === null ? null : byteString(found);
  }

  has(name: string): boolean {
    return this._native !== null ? this._native.has(name) : this.get(name) !== null;
  }

  getSetCookie(): string[] {
    return this._headers.getSetCookie();
  }

  append(name: string, value: string): void {
    this._headers.append(name, value);
  }

  set(name: string, value: string): void {
    this._headers.set(name, value);
  }

  delete(name: string): void {
    this._headers.delete(name);
  }

  forEach(callback: (value: string, key: string, parent: Headers) => void, thisArg?: unknown): void {
    this._headers.forEach(callback, thisArg);
  }

  entries() {
    return this._headers.entries();
  }

  keys() {
    return this._headers.keys();
  }

  values() {
    return this._headers.values();
  }

  [Symbol.iterator]() {
    return this._headers.entries();
  }
}
Object.setPrototypeOf(UwsHeaders.prototype, NativeHeaders.prototype);
