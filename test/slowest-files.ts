import { relative } from 'node:path';
import { table } from '@tradepost/terminal';
import type { Reporter, TestModule } from 'vitest/node';

const shown = 10;

/** Prints the files that took longest: their tests with all hooks, and everything that ran before them (imports, setup files). */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(files: readonly TestModule[]): void {
    const rows = files.map((file) => {
      const { duration, environmentSetupDuration, prepareDuration, collectDuration, setupDuration } = file.diagnostic();
      const before = environmentSetupDuration + prepareDuration + collectDuration + setupDuration;
      return { file: relative(process.cwd(), file.moduleId), seconds: (duration + before) / 1000 };
    });
    const slowest = rows.sort((a, b) => b.seconds - a.seconds).slice(0, shown);
    const cells = slowest.map(({ file, seconds }) => [seconds.toFixed(1), file]);
    if (cells.length > 1)
      process.stdout.write(
        `\n${table([['seconds', 'slowest files'], ...cells], { alignRight: (column) => column === 0 })}\n`,
      );
  }
}
