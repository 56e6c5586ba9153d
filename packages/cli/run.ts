import { main } from './main.ts';

/** Runs a command line as the work of this process, and ends the process with its exit code unless a server continues to run. */
export async function run(argv: readonly string[]): Promise<void> {
  const outputs = [process.stdout, process.stderr];
  // The reader of a pipe may end first, as in `tradepost jobs list | head`. That is not a fault.
  for (const output of outputs) output.on('error', () => {});
  const code = await main(argv);
  if (code === undefined) return;
  // A pipe takes long output later than it is written. An exit before that would cut it off.
  await Promise.all(outputs.map((output) => new Promise<void>((resolve) => output.write('', () => resolve()))));
  process.exit(code);
}
