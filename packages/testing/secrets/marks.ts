import { randomBytes } from 'node:crypto';

/** Where text of the shop can be read: an answer, a line of the log, a table, the output of a command. */
export type Place = { readonly place: string; readonly text: string };
/** A secret that was found in a place. `form` is the encoding, `part` when only its beginning was found. */
export type Leak = { readonly secret: string; readonly place: string; readonly form: string; readonly near: string };

type Secret = {
  readonly name: string;
  readonly text: string;
  /** The one answer that shows this secret, once. */
  readonly answeredBy?: string;
};

/** The base64 of a text at each offset within other bytes, without the characters that depend on those bytes. */
function base64Forms(text: string): [form: string, text: string][] {
  return [0, 1, 2].flatMap((before): [string, string][] => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    const whole = bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [
      ['base64', whole],
      ['base64url', whole.replaceAll('+', '-').replaceAll('/', '_')],
    ];
  });
}

/** The forms in which a text can be written, each once. Short texts have one form: others would be found by chance. */
function formsOf(text: string): [form: string, text: string][] {
  if (text.length < 12) return [['plain', text]];
  const hex = Buffer.from(text).toString('hex');
  const forms: [string, string][] = [
    ['plain', text],
    ['hex', hex],
    ['hex', hex.toUpperCase()],
    ['URL', encodeURIComponent(text)],
    ['URL', hex.replace(/../g, '%$&')],
    ['URL', hex.toUpperCase().replace(/../g, '%$&')],
    ['JSON', JSON.stringify(text).slice(1, -1)],
    ['JSON', JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')],
    ...base64Forms(text),
  ];
  return forms.filter(([, written], i) => forms.findIndex(([, other]) => other === written) === i);
}

/** Six digits are found by chance within longer numbers. */
const isDigit = (character: string | undefined) => character !== undefined && /[\w.]/.test(character);

function positionOf(text: string, wanted: string): number {
  let at = text.indexOf(wanted);
  if (!/^\d{4,8}$/.test(wanted)) return at;
  while (at >= 0 && (isDigit(text[at - 1]) || isDigit(text[at + wanted.length]))) at = text.indexOf(wanted, at + 1);
  return at;
}

/**
 * Secrets that a test plants, and those that the shop made for it. All planted ones begin alike, so a search reads each place
 * once per form of that beginning.
 */
export function openMarks() {
  const beginning = `planted-${randomBytes(4).toString('hex')}`;
  const planted: Secret[] = [];
  const made: Secret[] = [];
  const searched = () => [{ name: 'part of a planted secret', text: beginning }, ...made];

  function leaksIn({ place, text }: Place): Leak[] {
    const hits = searched().flatMap((secret) =>
      formsOf(secret.text).flatMap(([form, wanted]) => {
        const at = positionOf(text, wanted);
        return at < 0 ? [] : [{ secret, form, at, place, near: text.slice(Math.max(0, at - 120), at + 120) }];
      }),
    );
    return hits.flatMap(({ secret, ...hit }): Leak[] => {
      if (secret.text !== beginning) return [{ ...hit, secret: secret.name }];
      const whole = planted.filter((one) => formsOf(one.text).some(([, wanted]) => text.includes(wanted)));
      return (whole.length > 0 ? whole : [secret]).map(({ name }) => ({ ...hit, secret: name }));
    });
  }
  return {
    /** A new secret of this kind: letters, digits and hyphens. */
    plant(name: string): string {
      const text = `${beginning}-${name.replace(/[^a-z0-9]+/gi, '-').slice(0, 24)}-${randomBytes(8).toString('hex')}`;
      planted.push({ name, text });
      return text;
    },
    /** A secret that the shop made. It may be answered once by this route, and nowhere else. */
    made(name: string, text: string, answeredBy?: string): void {
      if (text === '') throw new Error(`${name} is empty`);
      made.push({ name, text, ...(answeredBy === undefined ? {} : { answeredBy }) });
    },
    count: () => ({ planted: planted.length, made: made.length }),
    /** All leaks. A secret that one route may answer is a leak at its second place, and at any other route. */
    search(places: readonly Place[]): Leak[] {
      const shown = new Set<string>();
      const answeredBy = new Map(made.map((one) => [one.name, one.answeredBy]));
      return places.flatMap(leaksIn).filter(({ secret, place }) => {
        if (answeredBy.get(secret) !== place || shown.has(secret)) return true;
        shown.add(secret);
        return false;
      });
    },
  };
}
export type Marks = ReturnType<typeof openMarks>;
