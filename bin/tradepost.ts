#!/usr/bin/env -S node --max-old-space-size=384
// The bound makes the collector run earlier: under load a server needs less than 250 MB instead of 270 MB.
import { main } from '@tradepost/cli';

const outputs = [process.stdout, process.stderr];
// The reader of a pipe may end first, as in `tradepost jobs list | head`. That is not a fault.
for (const output of outputs) output.on('error', () => {});

const code = await main(process.argv.slice(2));
if (code !== undefined) {
  // A pipe takes long output later than it is written. An exit before that would cut it off.
  await Promise.all(outputs.map((output) => new Promise<void>((resolve) => output.write('', () => resolve()))));
  process.exit(code);
}
