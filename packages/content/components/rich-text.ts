import sanitizeHtml from 'sanitize-html';

const length = /^-?\d{1,4}(\.\d{1,4})?(px|em|rem|%|pt|vw|vh)?$/;
const lengths = /^(auto|-?\d{1,4}(\.\d{1,4})?(px|em|rem|%|pt)?)( (auto|-?\d{1,4}(\.\d{1,4})?(px|em|rem|%|pt)?)){0,3}$/;
const colour = /^(#[0-9a-f]{3,8}|[a-z]{3,30}|(rgb|hsl)a?\([\d\s.,%/]{1,40}\))$/i;
const words = /^[a-z0-9 -]{1,60}$/i;

const named = (names: string, pattern: RegExp) => Object.fromEntries(names.split(' ').map((name) => [name, [pattern]]));

/** No property that takes text out of its place (position, z-index) and none with an address. */
const styles = {
  ...named('color background-color border-color', colour),
  ...named('font-size line-height letter-spacing text-indent width max-width height border-radius', length),
  ...named('margin margin-top margin-right margin-bottom margin-left', lengths),
  ...named('padding padding-top padding-right padding-bottom padding-left', lengths),
  ...named('text-align font-weight font-style text-decoration vertical-align float display white-space', words),
  ...named('border border-top border-right border-bottom border-left', /^[a-z0-9 #.,()%-]{1,60}$/i),
  'font-family': [/^[\p{L}\p{N} ,'"_-]{1,120}$/u],
};

/**
 * What editors write: text, lists, tables, links, pictures, videos. No ids or names, which could hide variables of the page
 * from its scripts, and no classes other than those of editors.
 */
const options: sanitizeHtml.IOptions = {
  allowedTags: [
    ...['p', 'div', 'span', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'code'],
    ...['b', 'strong', 'i', 'em', 'u', 's', 'del', 'ins', 'small', 'sub', 'sup', 'mark', 'font', 'center'],
    ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'section', 'article', 'header', 'footer', 'figure', 'figcaption'],
    ...['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
    ...['a', 'img', 'video', 'source'],
  ],
  nonTextTags: [
    ...['script', 'style', 'textarea', 'option', 'title', 'noscript', 'noembed', 'noframes', 'iframe', 'template'],
    ...['svg', 'math', 'xmp', 'plaintext', 'object', 'embed', 'applet'],
  ],
  allowedAttributes: {
    '*': ['style', 'align', 'title', 'dir', 'lang'],
    a: ['href', 'target', 'rel'],
    img: ['src', 'alt', 'width', 'height', 'loading'],
    video: ['src', 'poster', 'controls', 'width', 'height', 'loop', 'muted', 'playsinline', 'preload'],
    source: ['src', 'type'],
    font: ['color', 'size', 'face'],
    ol: ['start', 'type'],
    col: ['span', 'width'],
    colgroup: ['span', 'width'],
    table: ['border', 'cellpadding', 'cellspacing', 'width'],
    td: ['colspan', 'rowspan', 'width', 'height', 'valign'],
    th: ['colspan', 'rowspan', 'width', 'height', 'valign', 'scope'],
  },
  allowedClasses: { '*': ['ql-*', 'w-e-*'] },
  allowedStyles: { '*': styles },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https'], video: ['http', 'https'], source: ['http', 'https'] },
  allowedSchemesAppliedToAttributes: ['href', 'src', 'poster'],
  nestingLimit: 50,
  exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !attribs.src,
};

const addressAttributes = ['src', 'poster', 'href'] as const;

/**
 * The HTML without anything that could run or leave its place. Sanitised HTML stays as it is. `relative` makes paths of the
 * addresses of uploaded files.
 */
export function sanitiseRichText(html: string, relative: (url: string) => string): string {
  const transform: sanitizeHtml.Transformer = (tagName, attribs) => {
    for (const name of addressAttributes) if (attribs[name] !== undefined) attribs[name] = relative(attribs[name]);
    // A page that a link opens in a new window must not get a handle on the shop's page.
    if (tagName === 'a' && attribs.target) attribs.rel = 'noopener noreferrer';
    return { tagName, attribs };
  };
  return sanitizeHtml(html, {
    ...options,
    transformTags: { a: transform, img: transform, video: transform, source: transform },
  });
}
