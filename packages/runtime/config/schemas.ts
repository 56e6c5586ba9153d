import { isIP } from 'node:net';
import { z } from 'zod';
import { isHttpAddress } from '../settings/http-address.ts';

/**
 * A comma-separated text as a list of trimmed parts, without empty parts. A value of the file may be a list already.
 */
const commaSeparated = (value: unknown): unknown =>
  typeof value === 'string'
    ? value
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean)
    : value;

const beginsWith = (text: string, protocols: readonly string[]) =>
  protocols.some((protocol) => text.toLowerCase().startsWith(`${protocol}//`));

/** Whether it can be parsed, and its user name and password can be decoded. */
function isUrl(text: string): boolean {
  try {
    const { username, password, pathname, searchParams, hash } = new URL(text);
    decodeURIComponent(username + password);
    // A password with / ? or # ends the host too early. The @ before the real host is then in the path, the query or the fragment.
    return ![pathname, hash, ...searchParams.keys()].some((part) => part.includes('@'));
  } catch {
    return false;
  }
}

/** A text with one of these protocols that is no URL: usually a password was inserted as it is. */
const encodingHint =
  'is not a valid URL: in user names and passwords, characters such as @ : / ? # % are percent-encoded (%40 %3A %2F %3F %23 %25)';

const wholeNumber = (min: number, max: number) => ({ error: `must be a whole number from ${min} to ${max}` });

/**
 * A whole number, also as text. `null`, `true` and blank texts are refused: `Number()` would convert them to 0 or 1.
 */
export const int = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
    z
      .number(wholeNumber(min, max))
      .int(wholeNumber(min, max))
      .min(min, wholeNumber(min, max))
      .max(max, wholeNumber(min, max)),
  );

const portOrOff = { error: 'must be a whole number from 0 to 65535, or off' };

/** A port, or `off`. */
export const optionalPort = z.preprocess(
  (value) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
  z.custom<number | 'off'>(
    (value) => value === 'off' || (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65535),
    portOrOff,
  ),
);

/** `on` or `off`; the file may also have true or false. */
export const onOff = z.preprocess(
  (value) => (value === 'on' ? true : value === 'off' ? false : value),
  z.boolean({ error: 'must be on or off' }),
);

const startsOf = (protocols: readonly string[]) => protocols.map((protocol) => `${protocol}//`).join(' or ');

export const url = (...protocols: string[]) =>
  z
    .string()
    .refine((text) => beginsWith(text, protocols), {
      error: `must be a URL beginning with ${startsOf(protocols)}`,
      abort: true,
    })
    .refine(isUrl, { error: encodingHint });

const redisProtocols = ['redis:', 'rediss:'];
const partsOf = (text: string) => text.split(',').map((part) => part.trim());

/** An address that others see. */
export const publicAddress = z.string().refine(isHttpAddress, {
  error: 'must be a URL beginning with http:// or https://, without user and password',
});

/** One URL, or several separated by commas: the nodes through which a cluster is found. The text is kept as it is. */
export const redisUrls = z
  .string()
  .refine((text) => partsOf(text).every((part) => beginsWith(part, redisProtocols)), {
    error: `must be URLs beginning with ${startsOf(redisProtocols)}, comma-separated`,
    abort: true,
  })
  .refine((text) => partsOf(text).every(isUrl), { error: encodingHint });

/** A share from 0 to 1, also as text. */
export const share = z.preprocess(
  (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
  z
    .number({ error: 'must be a number from 0 to 1' })
    .min(0, { error: 'must be at least 0' })
    .max(1, { error: 'must be at most 1' }),
);

/** `name=value,name=value` as a record. Values are percent-encoded, as OpenTelemetry has it. */
export const headerList = z.string().transform((text, context): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {};
  for (const part of text.split(',')) {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e](?:[ -~]*[!-~])?)\s*$/.exec(part) ?? [];
    if (name !== undefined && value !== undefined && isPercentEncoded(value)) headers[name] = decodeURIComponent(value);
    else context.addIssue({ code: 'custom', message: 'must be headers such as name=value,name=value' });
  }
  return headers;
});

function isPercentEncoded(text: string): boolean {
  try {
    return /^[\t\x20-\x7e]*$/.test(decodeURIComponent(text));
  } catch {
    return false;
  }
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const width = isIP(address) === 6 ? 128 : 32;
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
  return isIP(address) !== 0 && fits && more === undefined;
}

/** IP addresses and networks (`10.0.0.0/8`). */
export const networks = z.preprocess(
  commaSeparated,
  z.array(
    z.string().refine(isAddressOrNetwork, { error: 'must be addresses or networks such as 127.0.0.1,10.0.0.0/8' }),
  ),
);

function isHost(text: string): boolean {
  const origin = /^https?:\/\//.test(text) ? text : `http://${text}`;
  return URL.canParse(origin) && /^https?:\/\/[^/?#@\s]+$/.test(origin);
}

/** `host[:port]`, with `https://` before it where the scheme is not http. */
export const hosts = z.preprocess(
  (value) => commaSeparated(typeof value === 'string' ? value.toLowerCase() : value),
  z.array(
    z.string().refine(isHost, {
      error: 'must be hosts such as shop.example, https://www.shop.example or 10.0.0.5:8080',
    }),
  ),
);

export const moduleNames = z.preprocess(
  commaSeparated,
  z
    .array(z.string().regex(/^-?[a-z][a-z-]*$/, { error: 'must be names of modules such as gateway or -gateway' }))
    .nonempty(),
);

/** Unlike the other lists, an empty part is refused: it is not the name of a role. */
export const namesOf = <const T extends readonly string[]>(names: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value),
    z.array(z.enum(names)).nonempty(),
  );
