/** Clean-up that must run however the program ends. The latest is run first. */
const pending = new Set<() => Promise<unknown>>();

/** Registers a clean-up. Returns a function that runs it once. */
export function defer(work: () => Promise<unknown>): () => Promise<void> {
  pending.add(work);
  return async () => {
    if (pending.delete(work)) await work();
  };
}

export async function cleanUp(): Promise<void> {
  for (const work of [...pending].reverse()) {
    pending.delete(work);
    await work().catch((error: unknown) => process.stderr.write(`while cleaning up: ${error}\n`));
  }
}
