import type { Script } from './limiter-script.ts';
import { type Check, type CheckDeps, checkInStore, type Part } from './store-check.ts';
import type { Missed, StoreGuard } from './store-guard.ts';

export type ClusterDeps = CheckDeps & {
  undoCharge: Script;
  /** The guard of the node with this address. */
  guardOf: (node: string) => StoreGuard;
};

/**
 * Checks one request on a cluster. The logs of a user and its tokens share a slot; address and model have their own slots.
 * The groups are checked in parallel. When one group refuses the request, the charges of the others are undone.
 */
export async function checkOnCluster(deps: ClusterDeps, check: Check): Promise<Part[] | Missed> {
  const { connection, guardOf, undoCharge } = deps;
  const { keys, tokens } = check;
  const groups = [
    keys.filter(({ kind }) => kind === 'user' || kind === 'token'),
    keys.filter(({ kind }) => kind === 'ip'),
    keys.filter(({ kind }) => kind === 'model'),
  ].filter((group) => group.length > 0);
  const guards = groups.map((group) => guardOf(connection.nodeOf(group[0]!.name)));
  const answers = await Promise.all(
    groups.map((group, i) =>
      guards[i]!.call(() => checkInStore(deps, [{ ...check, keys: group }]).then(([parts]) => parts!)),
    ),
  );
  const parts = answers.filter((answer) => typeof answer !== 'string');
  const refused = parts.filter(([part]) => !part!.admitted);
  if (refused.length > 0) {
    for (const [i, answer] of answers.entries()) {
      if (typeof answer === 'string' || !answer[0]!.admitted) continue;
      const names = answer.map(({ key }) => key.name);
      // If this call fails, the charge counts until it leaves the window. The request is refused in any case.
      void guards[i]!.call(() => connection.run(undoCharge, names, [String(answer[0]!.now), String(tokens)]));
    }
    return refused.flat();
  }
  // When no node refused and one did not answer, the request is admitted unchecked. The charges stay.
  return answers.find((answer) => typeof answer === 'string') ?? parts.flat();
}
