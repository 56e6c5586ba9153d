import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire, findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type UwsModule = typeof import('uWebSockets.js') & {
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  /** No compression of WebSocket messages. */
  DISABLED: number;
  _cfg?: (key: string) => void;
};
export type UwsBinary = {
  uws: UwsModule;
  /** Whether header values arrive whole, see `patch`. */
  keepsHeaderBytes: boolean;
};

/**
 * uWebSockets.js trims header values with a signed comparison (`value.back() < 33`, `value.front() < 33`), so that bytes of
 * 0x80 and above are cut off both ends: the Idempotency-Keys `order-é` and `order-ü` both arrive as `order-`, and the second
 * purchase gets the answer of the first. Nothing outside of the binary can see it. The two jumps behind these comparisons
 * become their unsigned form. Bun mended the same lines in its copy of the parser (oven-sh/bun, pull request 27269).
 */
const patch = {
  file: 'uws_linux_x64_127.node',
  sha256: '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
  bytes: [
    // jge -> jae
    { offset: 0xf2522, from: 0x7d, to: 0x73 },
    // jg -> ja
    { offset: 0xf253c, from: 0x7f, to: 0x77 },
  ],
} as const;

const fileName = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
/** There `char` is unsigned, so the comparison is right as it is. */
const hasUnsignedChar = process.platform === 'linux' && ['arm', 'arm64'].includes(process.arch);

/** The patched module; null for a binary other than the one that `patch` knows. */
async function loadPatched(): Promise<UwsModule | null> {
  const manifest = fileName === patch.file ? findPackageJSON('uWebSockets.js', import.meta.url) : undefined;
  if (manifest === undefined) return null;
  const binary = await readFile(join(dirname(manifest), 'dist/bin', fileName));
  if (createHash('sha256').update(binary).digest('hex') !== patch.sha256) return null;
  for (const { offset, from, to } of patch.bytes) {
    if (binary[offset] !== from) return null;
    binary[offset] = to;
  }
  // Only this process can read the folder; the file is needed no longer once it is mapped.
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-uws-'));
  try {
    const path = join(folder, fileName);
    await writeFile(path, binary, { mode: 0o500 });
    return createRequire(import.meta.url)(path) as UwsModule;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function load(): Promise<UwsBinary> {
  // Read once, when the binary is loaded: the 4096 bytes of uWS are little for cookies; 16 KiB is what node:http takes.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384';
  // A folder for temporary files from which nothing may be executed: the binary is then used as it is.
  const patched = await loadPatched().catch(() => null);
  if (patched) return { uws: patched, keepsHeaderBytes: true };
  try {
    const uws = (await import('uWebSockets.js')) as unknown as UwsModule;
    return { uws, keepsHeaderBytes: hasUnsignedChar };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    const message = `uWebSockets.js cannot be loaded on ${process.platform} ${process.arch}, Node ${process.version}: ${reason}`;
    throw Object.assign(new Error(message, { cause: error }), { binaryMissing: true });
  }
}

let loaded: Promise<UwsBinary> | undefined;
/** The native module, loaded once in a process. Rejects with `binaryMissing: true` where there is none for this platform. */
export function loadUws(): Promise<UwsBinary> {
  loaded ??= load();
  return loaded;
}
