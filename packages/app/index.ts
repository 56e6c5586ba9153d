export { type Assembled, assemble, audits, retention, settings } from './assemble.ts';
export { tellStory } from './demo-story.ts';
export { demoAccounts, seedDemo } from './seed-demo.ts';
export { type Scale, seedScale } from './seed-scale.ts';
export { runJobsOnce, type Server, startServer } from './server.ts';
export { checkout, version } from './version.ts';
