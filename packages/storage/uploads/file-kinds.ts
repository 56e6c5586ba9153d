/** A kind of file that can be recognised by its first bytes. */
export type FileKind = {
  /** The extension of stored paths comes first. */
  readonly extensions: readonly [string, ...string[]];
  readonly mime: string;
  /** Browsers show it. Other kinds are downloaded. */
  readonly isImage: boolean;
  readonly matches: (head: Buffer) => boolean;
};

/** The number of bytes that the checks below read. */
export const headBytes = 16;

const at = (offset: number, ...texts: readonly string[]) => {
  const patterns = texts.map((text) => Buffer.from(text, 'latin1'));
  return (head: Buffer) => patterns.some((pattern) => head.subarray(offset, offset + pattern.length).equals(pattern));
};
const both =
  (...checks: readonly ((head: Buffer) => boolean)[]) =>
  (head: Buffer) =>
    checks.every((check) => check(head));

/**
 * SVG is left out on purpose: it is a document that can carry scripts. Archives and office documents are left out
 * because their first bytes do not show what they contain.
 */
const kinds = [
  { extensions: ['jpg', 'jpeg'], mime: 'image/jpeg', isImage: true, matches: at(0, '\xff\xd8\xff') },
  // The signature, and the header chunk that every PNG begins with.
  {
    extensions: ['png'],
    mime: 'image/png',
    isImage: true,
    matches: at(0, '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'),
  },
  { extensions: ['gif'], mime: 'image/gif', isImage: true, matches: at(0, 'GIF87a', 'GIF89a') },
  { extensions: ['webp'], mime: 'image/webp', isImage: true, matches: both(at(0, 'RIFF'), at(8, 'WEBP')) },
  { extensions: ['avif'], mime: 'image/avif', isImage: true, matches: at(4, 'ftypavif', 'ftypavis') },
  { extensions: ['pdf'], mime: 'application/pdf', isImage: false, matches: at(0, '%PDF-') },
] as const satisfies readonly FileKind[];

export type Extension = (typeof kinds)[number]['extensions'][number];
const fileKinds: readonly FileKind[] = kinds;
export const extensions: readonly Extension[] = kinds.flatMap((kind): readonly Extension[] => kind.extensions);
export const defaultExtensions: Extension[] = ['jpg', 'jpeg', 'png', 'gif', 'webp'];

/** The kind of a file by its first bytes, if the shop allows it. The name and type that the client gave do not count. */
export function kindOf(head: Buffer, allowed: readonly string[]): FileKind | null {
  const kind = fileKinds.find(({ matches }) => matches(head));
  return kind?.extensions.some((extension) => allowed.includes(extension)) ? kind : null;
}

export const kindWithExtension = (extension: string): FileKind | null =>
  fileKinds.find((kind) => kind.extensions.includes(extension)) ?? null;
