import { basename } from 'node:path';
import { environmentCheck } from './environment-check.ts';
import type { Placement } from './placement.ts';
import { heapMegabytes, type UnitFile } from './unit-file.ts';

/** Its name for `--only`. */
export const commandName = 'command';

/** A wrapper for POSIX shells: it runs a command with the user, variables and data of the units. */
export function commandFile(at: Placement): UnitFile {
  const { user, directory, node, extension, data, environmentFile, command } = at;
  const name = basename(command);
  const text = `#!/bin/sh
# Install as ${command}, mode 0755. It runs a command of the shop with the user, variables and data of its services.
# A relative path in the arguments begins at the installation.
set -e
# As in the units: files that it makes are for the user of the services only.
umask 0077
if [ "$(id -u)" != 0 ] && [ "$(id -un)" != '${user}' ]; then
  echo '${name}: run it as root: sudo ${name} ...' >&2
  exit 2
fi
# Without the file a command would work on another database than the services.
if [ ! -r '${environmentFile}' ]; then
  if [ "$(id -u)" = 0 ]; then
    echo '${name}: ${environmentFile} does not exist. The services do not start without it; it may be empty.' >&2
  else
    echo '${name}: ${environmentFile} cannot be read by this user: run it as root: sudo ${name} ...' >&2
  fi
  exit 2
fi
export NODE_ENV=production TRADEPOST_DATA='${data}'
# As in the units, the file overrides the line above. A line that this shell reads in another way than systemd is refused.
fault=$(awk '
${environmentCheck}
' '${environmentFile}') || {
  echo "${name}: ${environmentFile}, $fault" >&2
  exit 2
}
set -a
. '${environmentFile}'
set +a
cd '${directory}'
# For lines to paste, such as the next command.
export TRADEPOST_COMMAND='${name}'
# The change log names who called sudo, or else the user of this shell, and not the user of the services.
export SUDO_USER="\${SUDO_USER:-$(id -un)}"
if [ "$(id -un)" = '${user}' ]; then
  exec '${node}' --max-old-space-size=${heapMegabytes} '${directory}/bin/tradepost${extension}' "$@"
fi
# No process stays between, as with runuser, which kills the program two seconds after a SIGTERM.
exec setpriv --reuid='${user}' --regid="$(id -g '${user}')" --init-groups -- '${node}' --max-old-space-size=${heapMegabytes} '${directory}/bin/tradepost${extension}' "$@"
`;
  return { name: 'tradepost.sh', text };
}
