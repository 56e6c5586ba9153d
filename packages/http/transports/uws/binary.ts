import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire, findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type UwsModule = typeof import('uWebSockets.js') & {
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  /** Switches the compression of WebSocket messages off. */
  DISABLED: number;
  _cfg?: (key: string) => void;
};
export type UwsBinary = {
  uws: UwsModule;
  /** True when header values arrive complete, see `patch`. */
  keepsHeaderBytes: boolean;
};

/**
 * uWebSockets.js trims header values with a signed comparison (`value.back() < 33`, `value.front() < 33`). Bytes of
 * 0x80 and above are therefore cut from both ends. The Idempotency-Keys `order-é` and `order-ü` both arrive as
 * `order-`, and the second purchase gets the answer of the first. Code outside the binary cannot detect this. The patch
 * replaces the two jumps behind these comparisons by their unsigned form. Bun has fixed the same lines in its copy of
 * the parser (oven-sh/bun, pull request 27269).
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
/** On these platforms `char` is unsigned, so the comparison is correct. */
const hasUnsignedChar = process.platform === 'linux' && ['arm', 'arm64'].includes(process.arch);

/** Returns the patched module, or null when the binary is not the one that `patch` was made for. */
async function loadPatched(): Promise<UwsModule | null> {
  const manifest = fileName === patch.file ? findPackageJSON('uWebSockets.js', import.meta.url) : undefined;
  if (manifest === undefined) return null;
  const binary = await readFile(join(dirname(manifest), 'dist/bin', fileName));
  if (createHash('sha256').update(binary).digest('hex') !== patch.sha256) return null;
  for (const { offset, from, to } of patch.bytes) {
    if (binary[offset] !== from) return null;
    binary[offset] = to;
  }
  // Only this process can read the folder. The file may be deleted once it is mapped.
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
  // uWS reads the variable once, when the binary is loaded. Its default of 4096 bytes is too small for requests with
  // large cookies. 16 KiB is the limit of node:http.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384';
  // Fails when the folder for temporary files does not allow execution. The binary is then used without the patch.
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
/**
 * The native module, loaded once per process. Rejects with `binaryMissing: true` where there is no binary for this
 * platform.
 */
export function loadUws(): Promise<UwsBinary> {
  loaded ??= load();
  return loaded;
}
