import type { Attack, AttackRun } from './attack.ts';
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

async function send(attackRun: AttackRun, sizes: readonly number[]): Promise<void> {
  const { servers, target } = attackRun;
  const [shopper] = await servers.shoppers(1);
  const attacker = openAttacker({ sockets: atOnce });
  const places = [
    { path: '/api/v1/cart/add', token: shopper!.token },
    { path: '/api/v1/orders', token: shopper!.token },
    { path: '/api/auth/login', token: undefined },
    { path: '/api/pay/callback', token: undefined },
    { path: '/admin/api/products', token: servers.staff },
    { path: '/admin/api/orders/batch/notes', token: servers.staff },
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
  // Every body on every route; in the short form every body on one route.
  const everywhere = bodies.flatMap((body) => places.map((place) => ({ ...body, ...place })));
  const asked =
    attackRun.size === 'long' ? everywhere : everywhere.filter((_, index) => index % (places.length + 1) === 0);
  await inParallel(asked, atOnce, async ({ name, body, path, token }) => {
    const reply = await attacker.ask(target.api.url, path, { body, token, method: 'POST' });
    attackRun.sent(1);
    const fault = faultOfReply(reply);
    if (fault) attackRun.fault(`${name} to ${path}: ${fault}`);
    else if (reply.code === 0) attackRun.fault(`${name} to ${path}: was taken`);
  });
  attacker.close();
}

/** No hostile body is accepted, makes the server fail, or blocks other clients. */
export const bodies: Attack = {
  name: 'bodies',
  about: 'large and deeply nested bodies to public, shopper and back-office routes, 60 at once',
  transports: 'each',
  run: (attackRun) => send(attackRun, attackRun.size === 'long' ? [60_000, 1_000_000, 8_000_000] : [60_000, 1_000_000]),
};
