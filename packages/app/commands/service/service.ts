import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RegisterCommand } from '@tradepost/module';
import { listOf, print, progress, table, UsageError } from '@tradepost/terminal';
import { Option } from 'commander';
import { commandFile, commandName, commandPath } from './command-file.ts';
import { type PlacementOptions, placementOf } from './placement.ts';
import { unitFiles } from './unit-file.ts';
import { units } from './units.ts';

type PrintOptions = PlacementOptions & { output?: string; only?: string };

const names = [...units.map(({ name }) => name), commandName];
const checkout = resolve(import.meta.dirname, '../../../..');

async function printUnits({ output, only, ...options }: PrintOptions): Promise<void> {
  const chosen = only === undefined ? names : listOf(only);
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`--only: ${unknown} is not one of ${names.join(', ')}`);
  const placement = placementOf(options);
  const files = unitFiles(
    units.filter(({ name }) => chosen.includes(name)),
    placement,
  );
  const wrapper = chosen.includes(commandName) ? commandFile(placement) : null;
  if (output === undefined) {
    const texts = files.map(({ name, text }) => `# /etc/systemd/system/${name}\n${text}`);
    print([...texts, ...(wrapper ? [`# ${commandPath}\n${wrapper.text}`] : [])].join('\n'));
    return;
  }
  await mkdir(output, { recursive: true });
  for (const { name, text } of files) await writeFile(join(output, name), text, { mode: 0o644 });
  if (files.length > 0) progress(`wrote ${files.length} files; then: systemctl daemon-reload`);
  if (!wrapper) return;
  const path = join(output, wrapper.name);
  await writeFile(path, wrapper.text);
  // The mode of writeFile is for new files only.
  await chmod(path, 0o755);
  progress(`wrote ${wrapper.name}; then: install -m 755 ${path} ${commandPath}`);
}

const unitTable = table([
  ...units.map(({ name, file, about }) => [`  ${name}`, file, about]),
  [`  ${commandName}`, 'tradepost.sh', `the command for operators, to be installed as ${commandPath}`],
]);

export const register: RegisterCommand = (command) => {
  command
    .command('print')
    .description('print systemd units for the processes and timers of the shop, and a wrapper of its command')
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
