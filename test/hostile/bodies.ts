import type { Attack, Battle } from './attack.ts';
import { faultOfReply, openAttacker } from './attacker.ts';
import { shapes } from './shapes.ts';
import { inParallel } from './sockets.ts';

const atOnce = 60;

const invalid: readonly (readonly [name: string, body: Uint8Array])[] = [
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
  ['a byte order mark', Buffer.from('\ufeff{}')],
  ['NUL', Buffer.alloc(1_000)],
  ['a form', Buffer.from('username=a&password=b')],
];

async function send(battle: Battle, sizes: readonly number[]): Promise<void> {
  const { arena, target } = battle;
  const [shopper] = await arena.shoppers(1);
  const attacker = openAttacker({ sockets: atOnce });
  const places = [
    { path: '/api/v1/cart/add', token: shopper!.token },
    { path: '/api/v1/orders', token: shopper!.token },
    { path: '/api/auth/login', token: undefined },
    { path: '/api/pay/callback', token: undefined },
    { path: '/admin/api/products', token: arena.staff },
    { path: '/admin/api/orders/batch/notes', token: arena.staff },
  ];
  const bodies = [
    ...shapes.flatMap(({ name, value }) =>
      sizes.flatMap((bytes) => {
        const plain = Buffer.from(value(bytes));
        const asField = Buffer.concat([Buffer.from('{"items":'), plain, Buffer.from('}')]);
        const title = `${bytes} bytes of ${name}`;
        return [
          { name: title, body: plain },
          { name: `${title} in a field`, body: asField },
        ];
      }),
    ),
    ...invalid.map(([name, body]) => ({ name, body })),
  ];
  // Each body everywhere, or in the short form at one place each.
  const everywhere = bodies.flatMap((body) => places.map((place) => ({ ...body, ...place })));
  const asked =
    battle.size === 'long' ? everywhere : everywhere.filter((_, index) => index % (places.length + 1) === 0);
  await inParallel(asked, atOnce, async ({ name, body, path, token }) => {
    const reply = await attacker.ask(target.api.url, path, { body, token, method: 'POST' });
    battle.sent(1);
    const fault = faultOfReply(reply);
    if (fault) battle.fault(`${name} to ${path}: ${fault}`);
    else if (reply.code === 0) battle.fault(`${name} to ${path}: was taken`);
  });
  attacker.close();
}

/** No body, whatever its form, is taken, fails the server, or stops it for others. */
export const bodies: Attack = {
  name: 'bodies',
  about: 'huge and deep bodies of every shape to public, shopper and back-office routes, 60 at once',
  transports: 'each',
  run: (battle) => send(battle, battle.size === 'long' ? [60_000, 1_000_000, 8_000_000] : [60_000, 1_000_000]),
};
