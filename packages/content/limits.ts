/** Pages that staff can make. */
export const maxPages = 50;
/** Variants of a page. */
export const maxVariants = 30;
/** Publications of a page that are kept. Publications that a variant shows are kept beyond this number. */
export const maxPublications = 100;
/** Characters of a page key or variant key. */
export const maxKey = 50;
/** Characters of the name of a variant. */
export const maxName = 100;
/** Components of a page. */
export const maxComponents = 200;
/** Bytes of the components of a page, as JSON. */
export const maxPageBytes = 256 * 1024;
/** Characters of a text with tags. The time to sanitise it can grow with the square of its length. */
export const maxRichText = 64 * 1024;
/** Levels of objects and lists in a component. */
export const maxDepth = 16;
/** Fields of an object that a client sends as `components`. */
export const maxFields = 20;
/** Characters of `components` sent as JSON text. */
export const maxComponentsText = 512 * 1024;
/** Bytes of all cached pages of a process. */
export const maxCachedBytes = 32 * 1024 * 1024;
/** Milliseconds after which a cached page is read again. An event ends it earlier; this limits the effect of a lost one. */
export const maxCachedAgeMs = 10_000;
/** Lists of variants that one process makes at once, and those that wait. A list has up to 8 MiB. */
export const variantLists = { active: 1, queued: 30 } as const;
