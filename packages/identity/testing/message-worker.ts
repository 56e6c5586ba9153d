import { openMessageWorker } from './message-shop.ts';

/** A worker process that sends one batch of messages. Arguments: the database and the batch. */
const [databaseUrl = '', batch = ''] = process.argv.slice(2);
const worker = await openMessageWorker(databaseUrl);
await worker.run('identity.send_messages', { batch });
await worker.close();
