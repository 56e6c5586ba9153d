export type Destroyable = { destroy(): unknown };

export function destroy(connection: Destroyable | null): void {
  try {
    connection?.destroy();
  } catch {
    // The connection was not open.
  }
}
