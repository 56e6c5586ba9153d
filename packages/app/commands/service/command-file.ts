import type { Placement } from './placement.ts';
import { heapMegabytes, type UnitFile } from './unit-file.ts';

/** Its name for `--only`, and the place where it is installed. */
export const commandName = 'command';
export const commandPath = '/usr/local/bin/tradepost';

/** A wrapper for POSIX shells: it runs a command with the user, variables and data of the units. */
export function commandFile({ user, directory, node, extension, data, environmentFile }: Placement): UnitFile {
  const text = `#!/bin/sh
# Install as ${commandPath}, mode 0755. It runs a command of the shop with the user, variables and data of its services.
# A relative path in the arguments begins at the installation.
set -e
export NODE_ENV=production TRADEPOST_DATA='${data}'
# As in the units, the file overrides the line above. The shell reads it: quote values with spaces, $ or quotes.
if [ -r '${environmentFile}' ]; then
  set -a
  . '${environmentFile}'
  set +a
elif [ -e '${environmentFile}' ]; then
  echo 'tradepost: ${environmentFile} cannot be read by this user, so its variables are not set' >&2
fi
cd '${directory}'
if [ "$(id -un)" = '${user}' ]; then
  exec '${node}' --max-old-space-size=${heapMegabytes} '${directory}/bin/tradepost${extension}' "$@"
fi
exec runuser -u '${user}' -- '${node}' --max-old-space-size=${heapMegabytes} '${directory}/bin/tradepost${extension}' "$@"
`;
  return { name: 'tradepost.sh', text };
}
