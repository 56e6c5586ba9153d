import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { RegisterCommand } from '@tradepost/module';
import { listOf, numberOf, print, progress, table, UsageError } from '@tradepost/terminal';
import { Option } from 'commander';
import { commandFile, commandName } from './command-file.ts';
import { type PlacementOptions, placementOf, usualData, usualEnvironmentFile } from './placement.ts';
import { unitFiles } from './unit-file.ts';
import { units } from './units.ts';

type PrintOptions = PlacementOptions & { output?: string; only?: string };

const names = [...units.map(({ name }) => name), commandName];
const checkout = resolve(import.meta.dirname, '../../../..');

/** Its file may be read, and run, while it is replaced; and it may be a link, which is then replaced itself. */
async function writeCommand(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  await writeFile(part, text);
  // The mode of writeFile is for new files only, and a umask narrows it.
  await chmod(part, 0o755);
  await rename(part, path);
}

function chosenNames({ output, only, command }: PrintOptions): readonly string[] {
  if (only === undefined) return command !== undefined && output === undefined ? [commandName] : names;
  const chosen = listOf(only);
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`--only: ${unknown} is not one of ${names.join(', ')}`);
  return chosen;
}

async function printUnits({ output, only, ...options }: PrintOptions): Promise<void> {
  const chosen = chosenNames({ output, only, ...options });
  const placement = placementOf(options);
  const files = unitFiles(
    units.filter(({ name }) => chosen.includes(name)),
    placement,
  );
  const wrapper = chosen.includes(commandName) ? commandFile(placement) : null;
  const { command } = placement;
  if (output === undefined) {
    const texts = files.map(({ name, text }) => `# /etc/systemd/system/${name}\n${text}`);
    if (wrapper && options.command === undefined) texts.push(`# ${command}\n${wrapper.text}`);
    if (texts.length > 0) print(texts.join('\n'));
  }
  const forSystemd = output !== undefined && /\/systemd\/system$/.test(resolve(output));
  if (output !== undefined) {
    if ((await mkdir(output, { recursive: true })) !== undefined) progress(`made the folder ${resolve(output)}`);
    for (const { name, text } of files) await writeFile(join(output, name), text, { mode: 0o644 });
    if (files.length > 0)
      progress(
        `wrote ${numberOf(files.length, 'file')} into ${resolve(output)}${forSystemd ? '; then: systemctl daemon-reload' : ''}`,
      );
  }
  if (!wrapper) return;
  if (options.command !== undefined) {
    await writeCommand(command, wrapper.text);
    return progress(`wrote ${command}`);
  }
  if (output === undefined) return;
  // It is no unit.
  if (forSystemd && only === undefined) return progress(`for the command of operators add: --command ${command}`);
  const path = join(output, wrapper.name);
  await writeCommand(path, wrapper.text);
  progress(`wrote ${wrapper.name}; then: install -m 755 ${path} ${command}`);
}

const unitTable = table([
  ...units.map(({ name, file, about }) => [`  ${name}`, file, about]),
  [`  ${commandName}`, 'tradepost.sh', 'the command for operators'],
]);

export const register: RegisterCommand = (command) => {
  command
    .command('print')
    .description('print systemd units for the processes and timers of the shop, and a wrapper of its command')
    .option('--user <name>', 'user of the services', 'tradepost')
    .option('--directory <folder>', 'the installation', checkout)
    .option('--node <file>', 'the program Node.js (default: the one of the installation)')
    .option('--data <folder>', 'data folder', usualData)
    .option('--environment-file <file>', 'file with the variables of the shop', usualEnvironmentFile)
    .option('--backups <place>', 'folder or s3://bucket/prefix of the backup timers', '/var/backups/tradepost')
    .option(
      '--output <folder>',
      'write the files into this folder; the command is not written into a folder of systemd',
    )
    .option('--command <file>', 'write the command for operators to this file; without --output only that')
    .addOption(new Option('--only <units>', 'units to print, comma-separated').choices(names).argParser((text) => text))
    .addHelpText(
      'after',
      `\nUnits:\n${unitTable}\n\nThe instance of a template is a port: tradepost-api@8080.\n\nExamples:\n  $ tradepost service print --output /etc/systemd/system --command /usr/local/bin/tradepost\n  $ tradepost service print --only api,worker --output /etc/systemd/system`,
    )
    .action(printUnits);
};
