/** Largest length of a model name, as written and in its normal form. */
export const longestModel = 256;

/** Names in normal form: nearly all names of requests. */
const plain = /^[a-z\d._:@+-]+(?:\/[a-z\d._:@+-]+)*$/;
/** Control characters, single surrogates and invisible characters. With them, names that look the same would differ. */
const invisible = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The normal form of a model name; null for an invalid name. Limits, routes and usage use it. Compatibility forms (full
 * width, superscript) become plain characters, letters become lower case, and runs of blanks become one. Blanks around the name
 * and slashes at its end are removed. The normal form of a normal form is itself.
 */
export function modelKey(name: string): string | null {
  if (name.length > longestModel) return null;
  if (plain.test(name)) return name;
  const visible = name.trim();
  if (invisible.test(visible)) return null;
  // Through upper case, so that both small forms of sigma, and the long s, become one letter; lower case before it, as the
  // capital sharp s is only then written as two letters.
  const folded = visible.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
  if (folded.length > longestModel) return null;
  return (
    folded
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/[ /]+$/, '') || null
  );
}
