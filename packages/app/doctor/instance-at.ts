/** The instance that answers at this address. Null when no server of this version answers. */
export async function instanceAt(url: string): Promise<string | null> {
  try {
    const response = await fetch(new URL('/health', url), { signal: AbortSignal.timeout(3_000) });
    const { instance } = (await response.json()) as { instance?: unknown };
    return typeof instance === 'string' ? instance : null;
  } catch {
    return null;
  }
}
