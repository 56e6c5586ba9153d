import { setTimeout as sleep } from 'node:timers/promises';
import { firehoseModel, limitedModel, limitedModelRpm } from './arena.ts';
import type { Attack, Battle } from './attack.ts';
import { faultOfReply, openAttacker } from './attacker.ts';
import { dial, inParallel, times } from './sockets.ts';

const chatOf = (model: string, stream: boolean) =>
  JSON.stringify({ model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] });

/** Opened and left after the first bytes: the upstream is left, too. */
async function dropped(battle: Battle, key: string): Promise<void> {
  const { arena, target } = battle;
  const before = arena.firehose.received.length;
  const body = chatOf(firehoseModel, true);
  const request =
    `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.example\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  let begun = 0;
  await inParallel(times(battle.of({ short: 60, long: 400 })), 40, async (index) => {
    const connection = await dial(target.gateway.port);
    connection.send(request);
    battle.sent(1);
    // Every third one leaves before anything can have come.
    if (index % 3 > 0) await connection.until((text) => text.includes('data:'), 10_000);
    if (connection.bytes() > 0) begun += 1;
    connection.socket.resetAndDestroy();
  });
  if (begun === 0) battle.fault('no stream has begun: nothing is shown');
  const streams = () => arena.firehose.received.slice(before);
  for (const end = performance.now() + 5_000; performance.now() < end; await sleep(50))
    if (streams().every(({ aborted }) => aborted)) return;
  battle.fault(
    `${streams().filter(({ aborted }) => !aborted).length} upstream streams go on for clients that have left`,
  );
}

/** Spellings under which a careless service would serve the same model. */
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

async function limitPassed(battle: Battle, key: string): Promise<void> {
  const { arena, target } = battle;
  const attacker = openAttacker();
  const isLimited = (model: unknown) =>
    String(model)
      .normalize('NFKC')
      .replace(/[\p{C}\s/]/gu, '')
      .toLowerCase() === limitedModel;
  const before = arena.upstream.received.length;
  await inParallel(
    times(4).flatMap(() => spellings),
    11,
    async (model) => {
      const reply = await attacker.ask(target.gateway.url, '/v1/chat/completions', {
        token: key,
        body: chatOf(model, false),
      });
      battle.sent(1);
      const fault = faultOfReply(reply);
      if (fault) battle.fault(`model ${JSON.stringify(model)}: ${fault}`);
    },
  );
  const served = arena.upstream.received.slice(before).filter(({ body }) => isLimited(body?.model)).length;
  if (served > limitedModelRpm)
    battle.fault(`${served} requests reached a model under its spellings, its limit is ${limitedModelRpm} a minute`);
  if (served === 0) battle.fault('the limited model was never reached: nothing is shown');
  attacker.close();
}

/** Clients that leave take their upstream with them, and a model has one limit however its name is written. */
export const streams: Attack = {
  name: 'streams',
  about: 'gateway streams opened and dropped, and the limit of a model under other spellings of its name',
  transports: 'each',
  async run(battle) {
    const key = await battle.arena.gatewayKey();
    await dropped(battle, key);
    await limitPassed(battle, key);
  },
};
