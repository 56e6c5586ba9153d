import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { chinese, contract, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createStaff } from '../index.ts';
import { assignableCodes, servedCodes } from './permissions.ts';

/** The routes of administrators, roles and permissions, as the API contract describes them. */
let shop: Shop;
let boss: string;
let lead: string;
/** Ids of roles and administrators by name. */
let roles: Record<string, number>;
let staff: Record<string, number>;

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());
beforeEach(async () => {
  const { sql } = shop.database;
  await sql`truncate identity.staff, identity.roles restart identity cascade`;
  await createStaff(sql, { username: 'boss', password: 'boss-secret' });
  await sql`
    insert into identity.roles (name, permissions) values
      ('Lead', '{system:admin,order:view}'), ('Clerk', '{order:view}'), ('Shipper', '{order:view,order:ship}')`;
  // All accounts use one hash, because hashing is slow.
  await sql`
    insert into identity.staff (username, password_hash, role_id)
    select v.name, (select password_hash from identity.staff), r.id
    from (values ('lead', 'Lead'), ('clerk', 'Clerk'), ('shipper', 'Shipper')) as v (name, role)
    join identity.roles r on r.name = v.role order by r.id`;
  const rows = async (list: { id: number; name: string }[]) => Object.fromEntries(list.map((r) => [r.name, r.id]));
  roles = await rows(await sql<{ id: number; name: string }[]>`select id, name from identity.roles`);
  staff = await rows(await sql<{ id: number; name: string }[]>`select id, username as name from identity.staff`);
  const issue = (id: number, perms: string[]) =>
    shop.server.tokens.issue({ role: 'admin', id, perms, generation: 2 ** 40 });
  boss = await issue(staff.boss!, ['*']);
  lead = await issue(staff.lead!, ['system:admin', 'order:view']);
});

const admin = (method: string, path: string, body?: unknown, token = boss, lang = 'en') =>
  shop.call(method, `/admin/api${path}`, { token, body, lang });
const ann = () => ({ username: 'ann', password: 'ann-secret', role_id: roles.Clerk });

describe('the answers', () => {
  test('permissions are a bare array of the codes of the modules that run, group by group', async () => {
    const { data } = await admin('GET', '/permissions');
    // The contract has order:refund in a group that this shop serves.
    expect(data).toEqual(expect.arrayContaining(['system:admin', 'system:config', 'order:view', 'order:refund']));
    for (const route of shop.server.routes) if (route.permission) expect(data).toContain(route.permission);
    expect(data).toHaveLength(new Set(data).size);
    const groups = data.map((code: string) => code.split(':')[0]);
    const begins = groups.filter((group: string, index: number) => group !== groups[index - 1]);
    expect(begins, 'the codes of a group follow each other').toHaveLength(new Set(groups).size);
    const without = servedCodes(shop.server.routes.filter(({ path }) => !path.startsWith('/admin/api/wms')));
    expect(data).toEqual(expect.arrayContaining(['wms:view', 'wms:edit']));
    expect(without.filter((code) => code.startsWith('wms:'))).toEqual([]);
    expect(assignableCodes([]), 'a role keeps the codes of modules that are switched off').toContain('wms:view');
    expect(data.every((code: string) => /^[a-z_]+(:[a-z-]+)+$/.test(code))).toBe(true);
  });

  test('administrators are a bare array without a hash, roles with an array of codes', async () => {
    const { data, body } = await admin('GET', '/admins');
    expect(data).toHaveLength(4);
    for (const row of data) expectFields(row, contract.admin);
    expect(JSON.stringify(body)).not.toContain('argon2');
    const list = (await admin('GET', '/roles')).data;
    for (const row of list) expectFields(row, contract.role);
    expect(list[0]).toMatchObject({ id: 1, name: 'Administrator', permissions: ['*'] });
  });

  test('an added administrator can log in, with the permissions of the role', async () => {
    const { data } = await admin('POST', '/admins', ann());
    expectFields(data, contract.admin);
    expect(Object.keys(data)).not.toContain('password');
    const token = await shop.login('ann', 'ann-secret');
    expect((await shop.call('GET', '/api/auth/profile', { token })).data).toMatchObject({ perms: ['order:view'] });
    expect((await admin('DELETE', `/admins/${data.id}`)).data).toBeNull();
    await expect(shop.login('ann', 'ann-secret')).rejects.toThrow('Invalid username or password');
  });

  test('a change is partial; a row that is sent back unchanged ends no tokens', async () => {
    const row = (await admin('POST', '/admins', ann())).data;
    const token = await shop.login('ann', 'ann-secret');
    expect((await admin('PUT', `/admins/${row.id}`, { ...row, password: '' })).data).toBeNull();
    expect((await shop.call('GET', '/api/auth/profile', { token })).status).toBe(200);
    expect((await admin('PUT', `/admins/${row.id}`, { username: 'anna' })).code).toBe(0);
    expect((await shop.call('GET', '/api/auth/profile', { token })).data.username).toBe('anna');
    await admin('PUT', `/admins/${row.id}`, { password: 'new-secret' });
    await shop.login('anna', 'new-secret');
    await admin('PUT', `/admins/${row.id}`, { status: 0 });
    await expect(shop.login('anna', 'new-secret')).rejects.toThrow('Account disabled');
  });

  test('roles: add, change, remove', async () => {
    const { data } = await admin('POST', '/roles', {
      name: 'Support',
      permissions: ['im:view', 'im:view', 'im:reply'],
    });
    expectFields(data, contract.role);
    expect(data.permissions).toEqual(['im:view', 'im:reply']);
    expect((await admin('PUT', `/roles/${data.id}`, { ...data, permissions: ['im:view'] })).data).toBeNull();
    expect((await admin('GET', '/roles')).data.at(-1)).toMatchObject({ name: 'Support', permissions: ['im:view'] });
    expect((await admin('DELETE', `/roles/${data.id}`)).data).toBeNull();
    expect(await admin('DELETE', `/roles/${data.id}`)).toMatchObject({ status: 200, code: 404 });
  });
});

describe('refused', () => {
  const cases: [string, () => [string, string, unknown?], number, string][] = [
    ['a name that is in use', () => ['POST', '/admins', { ...ann(), username: 'clerk' }], 409, 'clerk'],
    ['a rename to a name that is in use', () => ['PUT', `/admins/${staff.clerk}`, { username: 'boss' }], 409, 'boss'],
    ['an unknown role', () => ['POST', '/admins', { ...ann(), role_id: 999 }], 404, 'role_id'],
    ['a change to an unknown role', () => ['PUT', `/admins/${staff.clerk}`, { role_id: 999 }], 404, 'role_id'],
    ['a short password', () => ['POST', '/admins', { ...ann(), password: 'short' }], 400, 'password'],
    ['a short new password', () => ['PUT', `/admins/${staff.clerk}`, { password: 'short' }], 400, 'password'],
    ['an unknown administrator', () => ['PUT', '/admins/999', { status: 0 }], 404, '999'],
    ['removing an unknown administrator', () => ['DELETE', '/admins/999'], 404, '999'],
    ['an unknown code', () => ['POST', '/roles', { name: 'X', permissions: ['order:fly'] }], 400, 'permissions'],
    ['an unknown code in a change', () => ['PUT', `/roles/${roles.Clerk}`, { permissions: ['x'] }], 400, 'permissions'],
    ['a role name that is in use', () => ['POST', '/roles', { name: 'Clerk', permissions: [] }], 409, 'Clerk'],
    ['a role renamed to a name that is in use', () => ['PUT', `/roles/${roles.Clerk}`, { name: 'Lead' }], 409, 'Lead'],
    ['removing a role in use', () => ['DELETE', `/roles/${roles.Clerk}`], 500, 'Role in use'],
    ['removing the first administrator', () => ['DELETE', '/admins/1'], 500, 'access'],
    ['disabling the own account', () => ['PUT', '/admins/1', { status: 0 }], 500, 'access'],
    [
      'a role with fewer permissions for the own account',
      () => ['PUT', '/admins/1', { role_id: roles.Clerk }],
      500,
      'access',
    ],
    [
      'removing system:admin from the own role',
      () => ['PUT', '/roles/1', { permissions: ['order:view'] }],
      500,
      'access',
    ],
    [
      'removing * from the role of the last administrator who has it',
      () => ['PUT', '/roles/1', { permissions: ['system:admin'] }],
      500,
      'last',
    ],
    [
      'another role for the last administrator with *',
      () => ['PUT', '/admins/1', { role_id: roles.Lead }],
      500,
      'last',
    ],
  ];
  test.each(cases)('%s', async (_what, request, code, text) => {
    const [method, path, body] = request();
    const before = await shop.database.sql`select id, username, role_id, status, password_hash from identity.staff`;
    expect(await admin(method, path, body)).toMatchObject({
      status: 200,
      code,
      message: expect.stringContaining(text),
    });
    expect((await admin(method, path, body, boss, 'zh-CN')).message).toMatch(chinese);
    expect(await shop.database.sql`select id, username, role_id, status, password_hash from identity.staff`).toEqual(
      before,
    );
  });

  test('a change of the first administrator, also by another administrator with *', async () => {
    await admin('POST', '/admins', { username: 'ann', password: 'ann-secret', role_id: 1 });
    const second = await shop.login('ann', 'ann-secret');
    for (const [method, body] of [['DELETE'], ['PUT', { status: 0 }]] as const)
      expect(await admin(method, '/admins/1', body, second)).toMatchObject({
        code: 500,
        message: expect.stringContaining('first administrator'),
      });
    expect((await admin('PUT', '/admins/1', { role_id: roles.Clerk }, second)).code, 'it is not the last one').toBe(0);
    expect(await admin('PUT', `/admins/5`, { role_id: roles.Lead }, second)).toMatchObject({
      message: expect.stringContaining('last administrator'),
    });
  });
});

describe('an administrator cannot grant permissions that they lack', () => {
  const refusals: [string, () => [string, string, unknown?]][] = [
    [
      'a role with more permissions',
      () => ['POST', '/roles', { name: 'X', permissions: ['order:view', 'order:ship'] }],
    ],
    ['a role with *', () => ['POST', '/roles', { name: 'X', permissions: ['*'] }]],
    [
      'more permissions for a role',
      () => ['PUT', `/roles/${roles.Clerk}`, { permissions: ['order:view', 'system:config'] }],
    ],
    ['* for their own role', () => ['PUT', `/roles/${roles.Lead}`, { permissions: ['*'] }]],
    ['fewer permissions for a role that has more', () => ['PUT', `/roles/${roles.Shipper}`, { permissions: [] }]],
    ['another name for that role', () => ['PUT', `/roles/${roles.Shipper}`, { name: 'X' }]],
    ['removing that role', () => ['DELETE', `/roles/${roles.Shipper}`]],
    ['an account with *', () => ['POST', '/admins', { ...ann(), role_id: 1 }]],
    ['an account with more permissions', () => ['POST', '/admins', { ...ann(), role_id: roles.Shipper }]],
    ['* for themselves', () => ['PUT', `/admins/${staff.lead}`, { role_id: 1 }]],
    ['a password for the owner', () => ['PUT', '/admins/1', { password: 'mine-now-1' }]],
    ['disabling the owner', () => ['PUT', '/admins/1', { status: 0 }]],
    ['removing the owner', () => ['DELETE', '/admins/1']],
    ['a password for an account that has more', () => ['PUT', `/admins/${staff.shipper}`, { password: 'mine-now-1' }]],
    [
      'a smaller role for an account that has more',
      () => ['PUT', `/admins/${staff.shipper}`, { role_id: roles.Clerk }],
    ],
  ];
  test.each(refusals)('%s is refused', async (_what, request) => {
    const state = async () =>
      JSON.stringify([
        await shop.database.sql`select * from identity.staff order by id`,
        await shop.database.sql`select * from identity.roles order by id`,
      ]);
    const [method, path, body] = request();
    const before = await state();
    expect(await admin(method, path, body, lead)).toMatchObject({
      status: 200,
      code: 403,
      message: expect.stringContaining('You can not manage'),
    });
    expect((await admin(method, path, body, lead, 'zh-CN')).message).toMatch(chinese);
    expect(await state()).toBe(before);
  });

  test('permissions that they have can be granted', async () => {
    expect((await admin('POST', '/roles', { name: 'Reader', permissions: ['order:view'] }, lead)).code).toBe(0);
    expect((await admin('POST', '/admins', ann(), lead)).code).toBe(0);
    expect((await admin('PUT', `/admins/${staff.clerk}`, { password: 'clerk-secret' }, lead)).code).toBe(0);
    expect((await admin('PUT', `/admins/${staff.clerk}`, { status: 0 }, lead)).code).toBe(0);
    expect((await admin('DELETE', `/admins/${staff.clerk}`, undefined, lead)).code).toBe(0);
  });

  test('without system:admin all routes are refused, and shoppers are always refused', async () => {
    const clerk = await shop.server.tokens.issue({ role: 'admin', id: staff.clerk!, perms: ['order:view'] });
    const { token: shopper } = await shop.shopper();
    for (const [method, path] of [
      ['GET', '/admins'],
      ['GET', '/roles'],
      ['GET', '/permissions'],
      ['POST', '/admins'],
      ['DELETE', '/admins/2'],
    ] as const) {
      const body = method === 'POST' ? ann() : undefined;
      expect(await admin(method, path, body, clerk)).toMatchObject({
        code: 403,
        message: 'No permission: system:admin',
      });
      expect(await admin(method, path, body, shopper)).toMatchObject({ code: 403, message: 'No permission' });
    }
  });
});

describe('whatever two administrators do at once, one enabled administrator with * stays', () => {
  /** Each takes all permissions from an administrator; the second role has `*` too. */
  const ways: Record<string, (of: { id: number; role_id: number }) => [string, string, unknown?]> = {
    removed: ({ id }) => ['DELETE', `/admins/${id}`],
    disabled: ({ id }) => ['PUT', `/admins/${id}`, { status: 0 }],
    'given another role': ({ id }) => ['PUT', `/admins/${id}`, { role_id: roles.Clerk }],
    'left with a smaller role': ({ role_id }) => ['PUT', `/roles/${role_id}`, { permissions: ['system:admin'] }],
  };
  const names = Object.keys(ways);
  const pairs = names.flatMap((a, index) => names.slice(index).map((b) => [a, b] as const));

  test.each(pairs)('%s and %s', async (first, second) => {
    const { sql } = shop.database;
    await sql`insert into identity.roles (name, permissions) values ('Second', '{*}'), ('Third', '{*}')`;
    // The first administrator has a smaller role, and a third holder of * is disabled.
    await sql`update identity.staff set role_id = ${roles.Clerk!} where id = 1`;
    const [a, b] = await sql<{ id: number; role_id: number }[]>`
      insert into identity.staff (username, password_hash, role_id, status)
      select v.name, 'x', r.id, v.status
      from (values ('a', 'Second', 1), ('b', 'Third', 1), ('c', 'Third', 0)) as v (name, role, status)
      join identity.roles r on r.name = v.role order by v.name returning id, role_id`;
    const issue = (id: number) => shop.server.tokens.issue({ role: 'admin', id, perms: ['*'], generation: 2 ** 40 });
    const [tokenA, tokenB] = [await issue(a!.id), await issue(b!.id)];
    const [methodA, pathA, bodyA] = ways[first]!(a!);
    const [methodB, pathB, bodyB] = ways[second]!(b!);
    const answers = await Promise.all([admin(methodB, pathB, bodyB, tokenA), admin(methodA, pathA, bodyA, tokenB)]);
    expect(answers.filter((answer) => answer.code === 0)).toHaveLength(1);
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from identity.staff s join identity.roles r on r.id = s.role_id
      where s.status = 1 and '*' = any(r.permissions)`;
    expect(row!.n).toBe(1);
  });
});

test('the command line and the console cannot together remove all administrators with *', async () => {
  const { sql } = shop.database;
  await sql`update identity.staff set role_id = ${roles.Clerk!} where id = 1`;
  await sql`insert into identity.staff (username, password_hash, role_id) values ('a', 'x', 1), ('b', 'x', 1)`;
  const [a] = await sql<{ id: number }[]>`select id from identity.staff where username = 'a'`;
  const token = await shop.server.tokens.issue({ role: 'admin', id: a!.id, perms: ['*'], generation: 2 ** 40 });
  const [b] = await sql<{ id: number }[]>`select id from identity.staff where username = 'b'`;
  const [command, answer] = await Promise.all([
    runCommandInProcess(['staff', 'disable', 'a'], { env: { DATABASE_URL: shop.database.url } }),
    admin('DELETE', `/admins/${b!.id}`, undefined, token),
  ]);
  expect([command.code === 0, answer.code === 0].sort()).toEqual([false, true]);
  const [row] = await sql<
    { n: number }[]
  >`select count(*)::int as n from identity.staff where role_id = 1 and status = 1`;
  expect(row!.n).toBe(1);
});

test('two parallel requests with one name create one account', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => admin('POST', '/admins', ann())));
  expect(answers.map((answer) => answer.code).sort()).toEqual([0, 409, 409, 409, 409, 409]);
});
