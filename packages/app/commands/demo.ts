import type { RegisterCommand } from '@tradepost/module';
import {
  bold,
  configOf,
  dim,
  type GlobalOptions,
  green,
  print,
  printJson,
  refuseSecretOption,
  serverUrl,
} from '@tradepost/terminal';
import { runStory } from '../demo/run-story.ts';

type DemoOptions = GlobalOptions & {
  url?: string;
  keyword: string;
  username: string;
  adminUsername: string;
};

async function demo(options: DemoOptions): Promise<void> {
  const { config } = configOf(options.config ? { config: options.config } : {});
  const url = await serverUrl(options.url, config);
  if (!options.json) print(`${bold('A purchase, from search to refund')} ${dim(url)}\n`);
  let count = 0;
  const steps = await runStory({
    url,
    keyword: options.keyword,
    shopper: { username: options.username, password: process.env.TRADEPOST_DEMO_PASSWORD || 'demo123456' },
    administrator: {
      username: options.adminUsername,
      password: process.env.TRADEPOST_DEMO_ADMIN_PASSWORD || 'admin123',
    },
    onStep({ step, ms, result }) {
      count += 1;
      if (options.json) return;
      print(
        `${green('ok')} ${String(count).padStart(2)}  ${step.padEnd(34)} ${`${ms.toFixed(1)} ms`.padStart(9)}  ${dim(result)}`,
      );
    },
  });
  const total = Math.round(steps.reduce((sum, step) => sum + step.ms, 0) * 10) / 10;
  if (options.json) return printJson({ url, steps, total_ms: total });
  print(`\n${steps.length} steps in ${total.toFixed(1)} ms`);
}

export const register: RegisterCommand = (command) => {
  command
    .option('--url <url>', 'address of the server (default: the one running on .tradepost, else http://127.0.0.1:8080)')
    .option('--config <file>', 'JSON configuration file')
    .option('--keyword <text>', 'text that the shopper searches for', 'mug')
    .option(
      '--username <name>',
      'shopper, with the password in TRADEPOST_DEMO_PASSWORD or that of the demo shop',
      'demo',
    )
    .option(
      '--admin-username <name>',
      'administrator, with the password in TRADEPOST_DEMO_ADMIN_PASSWORD or that of the demo shop',
      'admin',
    )
    .option('--json', 'print the steps as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ tradepost demo --url http://127.0.0.1:9000 --json\n\nExit code 1 when a step fails.',
    )
    .action(demo);
  refuseSecretOption(command, '--password <text>', 'use TRADEPOST_DEMO_PASSWORD');
  refuseSecretOption(command, '--admin-password <text>', 'use TRADEPOST_DEMO_ADMIN_PASSWORD');
};
