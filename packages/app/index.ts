export { type Assembled, assemble } from './assemble.ts';
export { shopCommands } from './commands/shop-commands.ts';
export { tellStory } from './demo-story.ts';
export { audits, modules, modulesOf, retention, settings } from './modules.ts';
export { finishDemo, seedDemo } from './seed-demo.ts';
export { type Scale, seedScale } from './seed-scale.ts';
export { runJobsOnce, type Server, startServer } from './server.ts';
export { checkout, version } from './version.ts';
