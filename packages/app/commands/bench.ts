import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RegisterCommand } from '@tradepost/module';
import type { Command } from 'commander';
import { checkout } from '../version.ts';

/** The packages for development of this package.json that are not installed beside it. */
export async function missingPackages(file: string): Promise<string[]> {
  const { devDependencies = {} } = JSON.parse(await readFile(file, 'utf8')) as { devDependencies?: object };
  return Object.keys(devDependencies).filter((name) => !existsSync(join(dirname(file), 'node_modules', name)));
}

/** Runs a benchmark of the checkout. Benchmarks are in `test/bench`, which a packed installation does not have. */
export const register: RegisterCommand = (command) => {
  command
    .argument('[name]')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', '\nExamples:\n  $ tradepost bench orders\n  $ tradepost bench http --json')
    .action(async (_name: string | undefined, _options: unknown, command: Command) => {
      const script = join(checkout, 'test/bench/run.ts');
      if (!existsSync(script))
        throw new Error(`the benchmarks are not in this installation (${script}): run them in a checkout`);
      const missing = await missingPackages(join(checkout, 'package.json'));
      if (missing.length > 0)
        throw new Error(
          `the benchmarks need packages for development that are not installed (${missing.slice(0, 3).join(', ')} ...): npm ci without --omit=dev`,
        );
      const child = spawn(process.execPath, [script, ...command.args], { stdio: 'inherit' });
      process.exitCode = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)));
    });
};
