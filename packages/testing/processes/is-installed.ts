import { spawnSync } from 'node:child_process';

/** Administrators' programs are not on the path of every user. */
export const systemPath = `${process.env.PATH}:/usr/sbin:/sbin`;

/** True when a program is installed. If not, prints which tests are skipped. `args` make it end at once with code 0. */
export function isInstalled(program: string, args: readonly string[], tests?: string): boolean {
  const found = spawnSync(program, args, { env: { ...process.env, PATH: systemPath } }).status === 0;
  if (!found && tests !== undefined) process.stdout.write(`${program} is not installed: ${tests} are skipped\n`);
  return found;
}
