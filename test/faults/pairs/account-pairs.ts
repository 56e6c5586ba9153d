import { randomInt } from 'node:crypto';
import type { Action, Pair } from '../race.ts';
import { staffCall } from './actions.ts';
import { bothWin, oneWins } from './checks.ts';

export const accountPairs: readonly Pair[] = [
  {
    name: 'two default addresses',
    bothWays: false,
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const { token, id } = buyer!;
      const body = { name: 'Bo', phone: '13900000000', detail: '2 Road', is_default: 1 };
      const add: Action = (at) => at.call('POST', '/api/v1/addresses', { token, body });
      return {
        first: add,
        second: add,
        async faults(answers) {
          const checks = bothWin(answers);
          const [row] = await testShop.sql`
            select count(*)::int as all, (count(*) filter (where is_default))::int as default
            from identity.addresses where user_id = ${id}`;
          checks.equal('addresses', row, { all: 3, default: 1 });
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'one login code used twice',
    bothWays: false,
    async setUp(testShop) {
      const phone = `139${String(randomInt(100_000_000)).padStart(8, '0')}`;
      const { data } = await testShop.second.call('POST', '/api/v1/auth/sms/send', { body: { phone } });
      const login: Action = (at) => at.call('POST', '/api/v1/auth/sms/login', { body: { phone, code: data.dev_code } });
      return {
        first: login,
        second: login,
        async faults(answers) {
          const checks = oneWins(answers);
          const [row] = await testShop.sql<{ n: number }[]>`
            select count(*)::int as n from identity.shoppers where phone = ${phone}`;
          checks.equal('accounts', row!.n, 1);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'a role deleted and assigned to a new administrator',
    async setUp(testShop) {
      const name = `Role ${randomInt(1_000_000_000)}`;
      const [role] = await testShop.sql<{ id: number }[]>`
        insert into identity.roles (name, permissions) values (${name}, '{order:view}') returning id`;
      const username = `staff${randomInt(1_000_000_000)}`;
      const body = { username, password: 'correct horse battery', role_id: role!.id };
      return {
        first: staffCall(testShop, 'DELETE', `/admin/api/roles/${role!.id}`),
        second: staffCall(testShop, 'POST', '/admin/api/admins', body),
        async faults(answers) {
          const checks = oneWins(answers);
          const [row] = await testShop.sql`
            select (select count(*)::int from identity.staff where username = ${username}) as staff,
                   (select count(*)::int from identity.roles where id = ${role!.id}) as roles`;
          checks.equal('remaining rows', row, answers[0]?.code === 0 ? { staff: 0, roles: 0 } : { staff: 1, roles: 1 });
          return checks.faults;
        },
      };
    },
  },
];
