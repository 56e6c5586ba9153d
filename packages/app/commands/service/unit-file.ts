import { isBucket } from '@tradepost/backup';
import type { Placement } from './placement.ts';
import type { Unit } from './units.ts';

/** A file for /etc/systemd/system, or the wrapper of the command. */
export type UnitFile = { name: string; text: string };

const stateFolder = '/var/lib/';
/** Beyond the times of the shop, for what still has to be closed. */
const spareSeconds = 10;
export const heapMegabytes = 384;
const isHome = (path: string) => /^\/(home|root)(\/|$)/.test(path);

/** The folders that the service may write. systemd makes those below /var/lib for the user of the service. */
function writablePaths({ data, backups }: Placement): string[] {
  const made = data.startsWith(stateFolder) ? data.slice(stateFolder.length) : '';
  return [
    ...(made ? [`StateDirectory=${made}`, 'StateDirectoryMode=0750'] : [`ReadWritePaths=${data}`]),
    // Only where it exists.
    ...(isBucket(backups) ? [] : [`ReadWritePaths=-${backups}`]),
  ];
}

/** What the shop does not need. Not among it is MemoryDenyWriteExecute: Node.js compiles code while it runs. */
const hardening = ({ directory, data, backups, node }: Placement): string[] => [
  'NoNewPrivileges=yes',
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'ProtectSystem=strict',
  `ProtectHome=${[directory, data, backups, node].some(isHome) ? 'read-only' : 'yes'}`,
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'DevicePolicy=closed',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectProc=invisible',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'KeyringMode=private',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallFilter=~@privileged @resources',
  'SystemCallErrorNumber=EPERM',
  'UMask=0077',
  'LimitNOFILE=65536',
];

/** The lines that end a service: SIGTERM to the program alone, as the embedded PostgreSQL must outlive it. */
const stopping = ({ drains }: Unit, { shutdownSeconds, drainSeconds }: Placement): string[] => [
  'KillMode=mixed',
  'KillSignal=SIGTERM',
  `# ${drains ? 'DRAIN_SECONDS and ' : ''}SHUTDOWN_SECONDS, and ${spareSeconds} s: print the units again when they change.`,
  `TimeoutStopSec=${(drains ? drainSeconds : 0) + shutdownSeconds + spareSeconds}`,
];

const running = (unit: Unit, at: Placement): string[] => {
  const command = `ExecStart=${at.node} --max-old-space-size=${heapMegabytes} ${unit.run(at)}`;
  return unit.schedule
    ? ['Type=oneshot', command, `TimeoutStartSec=${unit.schedule.longest}`, 'Nice=10']
    : [
        'Type=exec',
        command,
        '# The start ends when the process is ready: restart one instance after the other.',
        `ExecStartPost=${at.node} ${at.directory}/daemons/ready${at.extension} --admin-port ${unit.adminPort} --wait 300`,
        'TimeoutStartSec=310',
        'Restart=on-failure',
        'RestartSec=5',
        '# A wrong configuration stays wrong (2), and so does a data folder that another server uses (3).',
        'RestartPreventExitStatus=2 3',
      ];
};

function service(unit: Unit, at: Placement): UnitFile {
  const environment = ['NODE_ENV=production', `TRADEPOST_DATA=${at.data}`];
  if (unit.drains) environment.push(`DRAIN_SECONDS=${at.drainSeconds}`);
  const lines = [
    '[Unit]',
    `Description=Tradepost: ${unit.about}`,
    `Documentation=file://${at.directory}/docs/OPERATIONS.md`,
    'Wants=network-online.target',
    'After=network-online.target postgresql.service redis-server.service',
    ...(unit.schedule
      ? []
      : ['# PostgreSQL or Redis may be away for hours: it is started until they are back.', 'StartLimitIntervalSec=0']),
    '',
    '[Service]',
    `User=${at.user}`,
    `WorkingDirectory=${at.directory}`,
    `Environment=${environment.join(' ')}`,
    '# Addresses and secrets. It overrides the line above. Owner root, mode 0600.',
    `EnvironmentFile=${at.environmentFile}`,
    ...running(unit, at),
    ...stopping(unit, at),
    `# The heap of Node.js is at most ${heapMegabytes} MB. Bodies, sockets and native memory come on top.`,
    `MemoryMax=${unit.memory}`,
    ...writablePaths(at),
    ...hardening(at),
    ...(unit.schedule ? [] : ['', '[Install]', 'WantedBy=multi-user.target']),
  ];
  return { name: unit.file, text: `${lines.join('\n')}\n` };
}

function timer({ file, about, schedule }: Unit): UnitFile[] {
  if (!schedule) return [];
  const lines = [
    '[Unit]',
    `Description=Tradepost, on schedule: ${about}`,
    '',
    '[Timer]',
    `OnCalendar=${schedule.when}`,
    'AccuracySec=1s',
    // A run that the machine has missed is made up for.
    'Persistent=yes',
    '',
    '[Install]',
    'WantedBy=timers.target',
  ];
  return [{ name: file.replace(/\.service$/, '.timer'), text: `${lines.join('\n')}\n` }];
}

/** The files of these units. */
export const unitFiles = (units: readonly Unit[], at: Placement): UnitFile[] =>
  units.flatMap((unit) => [service(unit, at), ...timer(unit)]);
