export { type Assembled, assemble } from './assemble.ts';
export { audits, modules, modulesOf, retention, settings } from './modules.ts';
export { seedDemo } from './seed-demo.ts';
export { seedScale } from './seed-scale.ts';
export { runJobsOnce, type Server, startServer } from './server.ts';
export { version } from './version.ts';
