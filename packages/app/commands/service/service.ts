import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RegisterCommand } from '@tradepost/module';
import { listOf, print, progress, table, UsageError } from '@tradepost/terminal';
import { Option } from 'commander';
import { type PlacementOptions, placementOf } from './placement.ts';
import { unitFiles } from './unit-file.ts';
import { units } from './units.ts';

type PrintOptions = PlacementOptions & { output?: string; only?: string };

const names = units.map(({ name }) => name);
const checkout = resolve(import.meta.dirname, '../../../..');

async function printUnits({ output, only, ...options }: PrintOptions): Promise<void> {
  const chosen = only === undefined ? names : listOf(only);
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`--only: ${unknown} is not one of ${names.join(', ')}`);
  const files = unitFiles(
    units.filter(({ name }) => chosen.includes(name)),
    placementOf(options),
  );
  if (output === undefined) {
    print(files.map(({ name, text }) => `# /etc/systemd/system/${name}\n${text}`).join('\n'));
    return;
  }
  await mkdir(output, { recursive: true });
  for (const { name, text } of files) await writeFile(join(output, name), text, { mode: 0o644 });
  progress(`wrote ${files.length} files; then: systemctl daemon-reload`);
}

const unitTable = table(units.map(({ name, file, about }) => [`  ${name}`, file, about]));

export const register: RegisterCommand = (command) => {
  command
    .command('print')
    .description('print systemd units for the processes and timers of the shop')
    .option('--user <name>', 'user of the services', 'tradepost')
    .option('--directory <folder>', 'the installation', checkout)
    .option('--node <file>', 'the program Node.js (default: the one of the installation)')
    .option('--data <folder>', 'data folder', '/var/lib/tradepost')
    .option('--environment-file <file>', 'file with the variables of the shop', '/etc/tradepost/tradepost.env')
    .option('--backups <folder>', 'folder of the backup timers', '/var/backups/tradepost')
    .option('--output <folder>', 'write the files into this folder')
    .addOption(new Option('--only <units>', 'units to print, comma-separated').choices(names).argParser((text) => text))
    .addHelpText(
      'after',
      `\nUnits:\n${unitTable}\n\nThe instance of a template is a port: tradepost-api@8080.\n\nExample:\n  $ tradepost service print --only api,worker --output /etc/systemd/system`,
    )
    .action(printUnits);
};
