/** What must be undone however the bench ends: the latest first. */
const pending = new Set<() => Promise<unknown>>();

/** Registers an undoing; the function answered runs it, once. */
export function defer(undo: () => Promise<unknown>): () => Promise<void> {
  pending.add(undo);
  return async () => {
    if (pending.delete(undo)) await undo();
  };
}

export async function cleanUp(): Promise<void> {
  for (const undo of [...pending].reverse()) {
    pending.delete(undo);
    await undo().catch((error: unknown) => process.stderr.write(`while cleaning up: ${error}\n`));
  }
}
