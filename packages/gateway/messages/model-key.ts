/** Longest name of a model, as written and in its normal form. */
export const longestModel = 256;

/** Already in normal form: nearly every name that is sent. */
const plain = /^[a-z\d._:@+-]+(?:\/[a-z\d._:@+-]+)*$/;
/** Control characters, halves of surrogate pairs, and what is not displayed: two names that look the same would differ. */
const invisible = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The normal form of a model's name, under which its limits, routes and usage are kept: compatibility forms (full width, small
 * letters above the line) as the plain character, lower case, blanks within as one, no blanks around and no slash behind it.
 * null: it is no name of a model. The normal form of a normal form is itself.
 */
export function modelKey(name: string): string | null {
  if (name.length > longestModel) return null;
  if (plain.test(name)) return name;
  const visible = name.trim();
  if (invisible.test(visible)) return null;
  // Upper case first: the two small forms of sigma, or s and its long form, are then one letter.
  const folded = visible.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  if (folded.length > longestModel) return null;
  return (
    folded
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/[ /]+$/, '') || null
  );
}
