import { contentErrors } from '../errors.ts';
import { maxRichText } from '../limits.ts';
import { fieldOf, mapTexts, type Path } from './map-texts.ts';
import { sanitiseRichText } from './rich-text.ts';

/** A text with a tag can be read as HTML, whatever its field is called. Without a tag, HTML is harmless. */
const tag = /<[a-z/!?]/i;

/** Fields that are shown and never followed: `JavaScript: the basics` is a title. */
const shown = /^(title|subtitle|text|desc|description|badge|alt|name|label|btn2?_text)$/;
const isFollowed = (path: Path) => !shown.test(String(path.findLast((part) => typeof part === 'string')));
/** Schemes that a browser runs, inlines, or reads from the disk of the visitor. */
const refused = /^(javascript|vbscript|livescript|data|blob|file|filesystem|view-source):/i;
/** Browsers ignore some of these characters inside a scheme. */
const ignored = /[\s\p{Cc}\p{Cf}]+/gu;

/**
 * The components with sanitised rich text and with paths for the addresses of uploaded files. Throws the refusal that names a
 * link or picture with a script or data address. All other texts stay as they are.
 */
export function cleanTexts(value: unknown, relative: (url: string) => string): unknown {
  return mapTexts(
    value,
    (text, path) => {
      const isRich = tag.test(text);
      if (isRich && text.length > maxRichText)
        throw contentErrors.rich_text_size({ field: fieldOf(path), max: maxRichText });
      const clean = isRich ? sanitiseRichText(text, relative) : relative(text);
      // The result is checked: an address may have a tag (`javascript:x//<b>`), also one that sanitising removes.
      if (isFollowed(path) && refused.test(clean.replace(ignored, '')))
        throw contentErrors.address({ field: fieldOf(path) });
      return clean;
    },
    ['components'],
  );
}

const uploads = '/uploads/';
const inHtml = /\b(src|href|poster)="\/uploads\//g;

/** The components as clients get them: addresses of uploaded files begin with `prefix`, which ends in `/uploads/`. */
export function withFileUrls(value: unknown, prefix: string): unknown {
  if (prefix === uploads) return value;
  return mapTexts(value, (text) => {
    if (text.startsWith(uploads)) return prefix + text.slice(uploads.length);
    return text.includes('="/uploads/') && text.includes('<') ? text.replaceAll(inHtml, `$1="${prefix}`) : text;
  });
}
