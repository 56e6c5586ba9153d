import type { CommandContext } from '@tradepost/module';

/**
 * The context of the commands without its parts. `load` imports all modules of the shop; before that, any use of the context
 * throws. Help needs no parts, and the import takes a second.
 */
export function openLazyContext(commandName: () => string) {
  let opened: CommandContext | null = null;
  const parts = (): CommandContext => {
    if (!opened) throw new Error('a command uses its context before it runs');
    return opened;
  };
  const context: CommandContext = {
    withRuntime: (...call) => parts().withRuntime(...call),
    modulesOf: (config) => parts().modulesOf(config),
    settingsOf: (config) => parts().settingsOf(config),
    get version() {
      return parts().version;
    },
    get modules() {
      return parts().modules;
    },
  };
  return {
    context,
    async load(): Promise<CommandContext> {
      const [{ modules, version }, { openCommandContext }] = await Promise.all([
        import('@tradepost/app'),
        import('@tradepost/module'),
      ]);
      opened ??= openCommandContext(modules, commandName, version);
      return opened;
    },
  };
}
