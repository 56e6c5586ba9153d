import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, AttackRun } from './attack.ts';
import { faultOfReply, openAttacker } from './attacker.ts';
import { dial, inParallel, times } from './sockets.ts';
import { firehoseModel, limitedModel, limitedModelRpm } from './test-servers.ts';

const chatOf = (model: string, stream: boolean) =>
  JSON.stringify({ model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] });

/** Opens streams and disconnects after the first bytes. The gateway must then disconnect from the upstream. */
async function dropped(attackRun: AttackRun, key: string): Promise<void> {
  const { servers, target } = attackRun;
  const before = servers.firehose.received.length;
  const body = chatOf(firehoseModel, true);
  const request =
    `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.example\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  let begun = 0;
  await inParallel(times(attackRun.of({ short: 60, long: 400 })), 40, async (index) => {
    const connection = await dial(target.gateway.port);
    connection.send(request);
    attackRun.sent(1);
    // Every third client disconnects before an answer can arrive.
    if (index % 3 > 0) await connection.until((text) => text.includes('data:'), 10_000);
    if (connection.bytes() > 0) begun += 1;
    connection.socket.resetAndDestroy();
  });
  if (begun === 0) attackRun.fault('no stream started, so the attack tested nothing');
  const streams = () => servers.firehose.received.slice(before);
  for (const end = performance.now() + 5_000; performance.now() < end; await sleep(50))
    if (streams().every(({ aborted }) => aborted)) return;
  attackRun.fault(
    `${streams().filter(({ aborted }) => !aborted).length} upstream streams continue for clients that have disconnected`,
  );
}

/** Other spellings of the model name that a careless service would accept. */
const spellings = [
  limitedModel,
  limitedModel.toUpperCase(),
  'Limited',
  ` ${limitedModel}`,
  `${limitedModel} `,
  `\t${limitedModel}\n`,
  `${limitedModel}\u00a0`,
  `${limitedModel}\u200b`,
  `${limitedModel}\u0000`,
  `${limitedModel}/`,
  'ｌｉｍｉｔｅｄ',
];

async function limitPassed(attackRun: AttackRun, key: string): Promise<void> {
  const { servers, target } = attackRun;
  const attacker = openAttacker();
  const isLimited = (model: unknown) =>
    String(model)
      .normalize('NFKC')
      .replace(/[\p{C}\s/]/gu, '')
      .toLowerCase() === limitedModel;
  const before = servers.upstream.received.length;
  await inParallel(
    times(4).flatMap(() => spellings),
    11,
    async (model) => {
      const reply = await attacker.ask(target.gateway.url, '/v1/chat/completions', {
        token: key,
        body: chatOf(model, false),
      });
      attackRun.sent(1);
      const fault = faultOfReply(reply);
      if (fault) attackRun.fault(`model ${JSON.stringify(model)}: ${fault}`);
    },
  );
  const served = servers.upstream.received.slice(before).filter(({ body }) => isLimited(body?.model)).length;
  if (served > limitedModelRpm)
    attackRun.fault(
      `${served} requests reached the model under other spellings; its limit is ${limitedModelRpm} a minute`,
    );
  if (served === 0) attackRun.fault('the limited model was never called, so the attack tested nothing');
  attacker.close();
}

/** When a client disconnects, its upstream stream ends. A model has one limit for all spellings of its name. */
export const streams: Attack = {
  name: 'streams',
  about: 'gateway streams opened and dropped, and the limit of a model under other spellings of its name',
  transports: 'each',
  async run(attackRun) {
    const key = await attackRun.servers.gatewayKey();
    await dropped(attackRun, key);
    await limitPassed(attackRun, key);
  },
};
