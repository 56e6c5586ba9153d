import { randomBytes, randomUUID } from 'node:crypto';
import { settings } from '@tradepost/app';
import type { Route } from '@tradepost/http';
import { openLog, type Setting } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { fieldsOf, inputSchema, label, withAt } from '@tradepost/testing/routes/inputs';
import { openRouteRequests, type RouteRequests } from '@tradepost/testing/routes/route-requests';
import { commandsWithJson } from '@tradepost/testing/secrets/commands';
import { type EchoingServices, openEchoingServices } from '@tradepost/testing/secrets/echoing-services';
import { openMarks, type Place } from '@tradepost/testing/secrets/marks';
import { filesOf, recordAnswers, tablesOf } from '@tradepost/testing/secrets/places';
import { notify, openPayment } from '@tradepost/testing/servers/payment-gateway';
import { openRedis, type RedisServer, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * No secret is in any answer, log line, trail, export, output of a command or table. The test plants a text of its own in every place
 * that holds a secret, uses all of the shop, and searches all that the shop has shown and stored. Settings, routes, fields, commands and
 * tables are taken from their declarations, so new ones are included.
 */
const marks = openMarks();
const { plant } = marks;

/** The answers that show a secret once, because its owner must learn it. */
const secretFields: Readonly<Record<string, { field: string; why: string }>> = {
  'POST /api/auth/login': { field: 'token', why: 'the token of the caller' },
  'POST /admin/api/auth/login': { field: 'token', why: 'the token of the caller' },
  'POST /api/v1/auth/sms/login': { field: 'token', why: 'the token of the caller' },
  'POST /api/v1/auth/wechat/miniapp': { field: 'token', why: 'the token of the caller' },
  'POST /api/v1/auth/sms/send': { field: 'dev_code', why: 'the SMS provider test, for development' },
  'POST /api/admin/api-tokens': { field: 'secret', why: 'a new API token' },
  'POST /api/admin/api-tokens/:id/rotate': { field: 'secret', why: 'a new secret of an API token' },
  'POST /admin/api/webhooks/endpoints': { field: 'secret', why: 'the receiver needs it to verify requests' },
  'POST /admin/api/webhooks/endpoints/:id/rotate-secret': { field: 'secret', why: 'as above' },
};
/** Secrets that are shown or stored as they are, by design. Each must be found, else its line is out of date. */
const exceptions: readonly { secret: string; places: RegExp; why: string }[] = [
  {
    secret: 'signing key',
    places: /^table identity\.signing_keys$/,
    why: 'every process signs with it, also without a key file (packages/identity/README.md)',
  },
  {
    secret: 'path of a webhook',
    places:
      /^((POST|GET) \/admin\/api\/webhooks\/(endpoints(\/:id(\/test)?)?|deliveries\/:id)|tradepost webhooks list --json|table webhooks\.(endpoints|attempts))$/,
    why: 'a part of its address, which staff see and edit (packages/webhooks/README.md); the receiver of the test quotes it',
  },
  {
    secret: 'leaked on purpose',
    places: /./,
    why: 'shows that the search finds what is there',
  },
];

const secretSettings = settings.filter(({ secret }) => secret);
const environmentKey = plant('key of an upstream in the environment');
let services: EchoingServices;
let redis: RedisServer | null = null;
let shop: Shop;
let requests: RouteRequests;
let answers: ReturnType<typeof recordAnswers>;
const role = `planted_${randomBytes(4).toString('hex')}`;
const lines: string[] = [];
const imageKeys = new Map<string, string>();
const passwords = { database: plant('password of the database'), redis: plant('password of Redis') };
const commandEnv: Record<string, string> = { PLANTED_UPSTREAM_KEY: environmentKey };

/** The settings whose secrets each service gets. */
const settingsOfService: Readonly<Record<string, readonly string[]>> = {
  kuaidi100: ['logistics_kuaidi100.key'],
  kdniao: ['logistics_kdniao.api_key'],
  '': ['sms.secret_key'],
  message: ['sms.webhook_secret'],
  wechat: ['wechat_auth.mini_app_secret'],
  bucket: ['storage_oss.access_key_secret', 'storage_cos.secret_key', 'storage_qiniu.secret_key'],
  warehouse: ['external_wms.app_secret'],
  refund: ['pay.sandbox.secret'],
};
function keyOf(service: string, account: string): string[] {
  if (service === 'images') return [imageKeys.get(account) ?? ''];
  if (service === 'model')
    return settingOf<{ api_key: string }[]>('gateway.upstreams').map(({ api_key }) =>
      api_key.startsWith('env:') ? environmentKey : api_key,
    );
  return (settingsOfService[service] ?? []).map((key) => settingOf<string>(key));
}
const settingOf = <T>(key: string) =>
  shop.server.runtime.settings.get(settings.find((one) => one.key === key) as Setting<unknown>) as T;

/** A value of a secret setting, by its declaration. */
function plantedValue({ key, fallback }: Setting): unknown {
  if (typeof fallback === 'string') return plant(`setting ${key}`);
  const upstream = { name: 'a', base_url: services.url('model'), models: ['*'] };
  const value = [
    { ...upstream, api_key: plant(`setting ${key}`), headers: { 'X-Api-Key': plant(`header of ${key}`) } },
    { ...upstream, name: 'b', api_key: 'env:PLANTED_UPSTREAM_KEY' },
  ];
  if (key !== 'gateway.upstreams') throw new Error(`say here which value of ${key} has a planted secret`);
  return value;
}
const admin = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  shop.call(method, path, { token: requests.staff, body, ...(headers ? { headers } : {}) });

beforeAll(async () => {
  process.env.PLANTED_UPSTREAM_KEY = environmentKey;
  services = await openEchoingServices(keyOf);
  if (redisIsInstalled('the planted password of Redis')) {
    redis = await openRedis();
    await redis.command('CONFIG', 'SET', 'requirepass', passwords.redis);
    commandEnv.REDIS_URL = `redis://:${passwords.redis}@127.0.0.1:${redis.port}`;
  }
  const log = openLog({ level: 'trace', stream: { write: (line: string) => lines.push(line) } });
  shop = await openShop(
    { only: ['api', 'worker', 'gateway'], gatewayPort: 0, logRequests: 'all', allowedPrivateNetworks: '127.0.0.0/8' },
    {
      // As an older version has stored them.
      ...Object.fromEntries(secretSettings.map((one) => [one.key, plantedValue(one)])),
      ...{ 'sms.resend_seconds': 0, 'sms.per_phone_hour': 0, 'sms.per_phone_day': 0 },
      ...{ 'sms.sign_name': 'Shop', 'sms.access_key': 'id', 'sms.app_id': '1', 'sms.endpoint': services.origin },
      ...{ 'sms.templates': { login_code: 'SMS_1' }, 'sms.webhook_url': services.url('message') },
      ...{ 'wechat_auth.mini_app_id': 'wx', 'wechat_auth.endpoint': services.url('wechat') },
      ...{ 'logistics_kuaidi100.api_url': services.url('kuaidi100'), 'logistics_kuaidi100.customer': 'C' },
      ...{ 'logistics_kdniao.api_url': services.url('kdniao'), 'logistics_kdniao.ebusiness_id': '1' },
      ...{ 'external_wms.endpoint': services.url('warehouse'), 'external_wms.app_key': 'shop' },
      ...{ 'storage_oss.endpoint': services.origin, 'storage_oss.bucket': 'bucket', 'storage_oss.access_key_id': 'id' },
      ...{ 'pay.sandbox.refund_url': services.url('refund') },
    },
    {
      log,
      async prepare({ url, sql }) {
        await sql.unsafe(`create role ${role} login superuser password '${passwords.database}'`);
        await sql`insert into identity.signing_keys (kid, secret, created_at)
          values ('planted', ${Buffer.from(plant('signing key'))}, now())`;
        const own = new URL(url);
        [own.username, own.password] = [role, passwords.database];
        commandEnv.DATABASE_URL = own.toString();
        return { databaseUrl: own.toString(), ...(redis ? { redisUrl: commandEnv.REDIS_URL! } : {}) };
      },
    },
  );
  commandEnv.TRADEPOST_DATA = shop.server.runtime.config.data;
  const servers = [shop.url, shop.server.gateway!.url];
  answers = recordAnswers(servers, shop.server.routes, { marks, secretFields });
  requests = await openRouteRequests(shop);
  await shop.server.runtime.settings.set('pay.sandbox.secret', plant('setting pay.sandbox.secret'));
  marks.made('token of staff', requests.staff.split('.')[2]!);
  marks.made('token of a shopper', requests.owner.token.split('.')[2]!);
});
afterAll(async () => {
  answers?.restore();
  const { database } = shop ?? {};
  await shop?.server.stop();
  await database?.sql.unsafe(`reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`);
  await shop?.close();
  await services?.close();
  await redis?.close();
  delete process.env.PLANTED_UPSTREAM_KEY;
});

/** Fields of requests that hold a secret. */
const isSecretField = (name: string, format?: string) =>
  format === 'password' || /secret|password|api_key|credential/.test(name);
const secretFieldsOf = (route: Route) =>
  route.body
    ? fieldsOf(inputSchema(route.body)).filter(({ name, schema }) => isSecretField(name, schema.format as string))
    : [];

/** Keys of payment services have a form of their own, which a planted text does not have. They are stored and masked as all others. */
const hasFreeForm = (key: string) =>
  shop.server.runtime.settings
    .definitions()
    .find((one) => one.key === key)
    ?.schema.safeParse('planted').success ?? true;

/** Plants in the configuration centre, in accounts, image models, webhooks and API tokens. */
async function plantByApi(): Promise<void> {
  const { data: plugins } = await admin('GET', '/admin/api/config/schemas');
  for (const { plugin, fields } of plugins) {
    const keys = (fields as { key: string; type: string }[]).flatMap(({ key, type }) =>
      type === 'password' && hasFreeForm(`${plugin}.${key}`) ? [key] : [],
    );
    const form = Object.fromEntries(keys.map((key) => [key, plant(`config ${plugin}.${key}`)]));
    expect((await admin('PUT', `/admin/api/config/${plugin}`, form)).code).toBe(0);
    for (const key of keys)
      for (const wrong of [{ no: plant(`config ${plugin}`) }, plant(`config ${plugin}`).padEnd(6_000, 'x')])
        await admin('PUT', `/admin/api/config/${plugin}`, { [key]: wrong });
  }
  for (const driver of ['openai', 'wenxin', 'tongyi', 'hunyuan']) {
    // The key of hunyuan is an id and a secret.
    const key = `${driver === 'hunyuan' ? 'id:' : ''}${plant(`key of ${driver}`)}`;
    imageKeys.set(driver, key);
    const body = { name: driver, driver, endpoint: services.url(`images/${driver}`), api_key: key };
    const { data } = await admin('POST', '/admin/api/ai/models', body);
    await admin('POST', '/admin/api/ai/generate', { model_id: data.id, prompt: 'a mug', params: { count: 1 } });
  }
  const url = (userinfo: string) => `http://${userinfo}127.0.0.1:${new URL(services.origin).port}/hook/`;
  const hooks = '/admin/api/webhooks/endpoints';
  expect((await admin('POST', hooks, { url: url(`user:${plant('password of a webhook')}@`) })).code).not.toBe(0);
  const { data: hook } = await admin('POST', hooks, { url: url('') + plant('path of a webhook') });
  await admin('POST', `${hooks}/${hook.id}/test`);
}

/** Logs in by each way, with right and wrong secrets. */
async function logIn(): Promise<void> {
  const { createShopper, createStaff } = await import('@tradepost/identity');
  const [shopper, staff] = [plant('password of a shopper'), plant('password of staff')];
  await createShopper(shop.database.sql, { username: 'planted', password: shopper, nickname: 'P' });
  await createStaff(shop.database.sql, { username: 'planted', password: staff });
  for (const path of ['/api/auth/login', '/admin/api/auth/login'])
    for (const password of [shopper, staff, plant('wrong password')])
      await shop.call('POST', path, { body: { username: 'planted', password } });
  await shop.call('POST', '/api/auth/login', { body: { username: plant('password as username'), password: 'x' } });
  await shop.call('GET', `/api/v1/orders?token=${plant('token in a query')}`, { token: plant('token of no account') });
  for (const lang of ['en', 'zh-CN'])
    await shop.call('POST', '/api/v1/auth/wechat/miniapp', { body: { code: plant('code of WeChat') }, lang });
  services.answer({ wechat: () => ({ openid: 'o-planted', session_key: plant('session key of WeChat') }) });
  await shop.call('POST', '/api/v1/auth/wechat/miniapp', { body: { code: plant('code of WeChat') } });
  services.answer({});
  for (const provider of ['test', 'aliyun', 'tencent', 'webhook']) {
    await shop.server.runtime.settings.set('sms.provider', provider);
    const before = services.received.length;
    const body = { phone: '13912345678' };
    const { data } = await shop.call('POST', '/api/v1/auth/sms/send', { body });
    if (provider === 'test')
      await shop.call('POST', '/api/v1/auth/sms/login', { body: { ...body, code: data.dev_code } });
    else await expect.poll(() => services.received.length).toBeGreaterThan(before);
  }
  await expect.poll(() => services.bodiesOf('message').length).toBeGreaterThan(0);
  for (const [i, sent] of services.bodiesOf('message').entries()) marks.made(`SMS code ${i}`, JSON.parse(sent).code);
}

/** Uses the services that quote the keys. */
async function useServices(): Promise<void> {
  const { sql } = shop.database;
  await requests.make('/admin/api/orders', 2, { order: 'shipped', large: false });
  const shipments = await sql<{ order_id: number; id: number }[]>`
    update fulfilment.shipments set company = 'SF', tracking_no = 'SF' || id where direction = 'outbound' returning order_id, id`;
  const sync = () =>
    Promise.all(
      shipments.slice(0, 2).map((one) => admin('POST', `/admin/api/orders/${one.order_id}/shipments/${one.id}/sync`)),
    );
  await sync();
  const node = (quoted: string) => ({
    ftime: '2026-03-01 10:00:00',
    context: quoted,
    location: quoted,
    status: quoted,
    quoted,
  });
  services.answer({ kuaidi100: (quoted) => ({ status: '200', state: '0', message: 'ok', data: [node(quoted)] }) });
  const tracks = () => sql`select from fulfilment.shipment_tracks`;
  await expect.poll(async () => [await sync(), (await tracks()).length].at(-1)).toBeGreaterThan(0);
  services.answer({});
  for (const { order_id, id } of shipments.slice(0, 2)) {
    const path = `orders/${order_id}/shipments/${id}/tracks`;
    await admin('GET', `/admin/api/${path}`);
    await shop.call('GET', `/api/v1/${path}`, { token: requests.owner.token });
  }

  // A payment that arrives after its order was cancelled is refunded.
  const bought = await openPayment(shop);
  await shop.call('POST', `/api/v1/orders/${bought.order_id}/cancel`, { token: bought.token });
  const paid = { payment_no: bought.payment_no, amount: bought.total };
  expect((await notify(shop, paid, { secret: settingOf('pay.sandbox.secret') })).code).toBe(0);

  const { data: token } = await admin('POST', '/api/admin/api-tokens', { user_id: requests.owner.id, name: 'planted' });
  const ask = (key: string) =>
    fetch(`${shop.server.gateway!.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
    });
  await ask(token.secret);
  await ask(`tp-${plant('unknown API token')}`);
  // In what a model writes, keys are masked as they are, not encoded ones (packages/gateway/PROXY.md).
  const message = () => ({ role: 'assistant', content: keyOf('model', '').join(' ') });
  services.answer({
    model: () => ({ id: '1', object: 'chat.completion', choices: [{ index: 0, message: message() }] }),
  });
  await ask(token.secret);
  services.answer({});

  const upload = shop.server.routes.find((route) => label(route) === 'POST /api/v1/upload')!;
  const { body: form } = await requests.fill(upload);
  const toBucket = await shop.call('POST', '/api/v1/upload?driver=oss', { token: requests.owner.token, body: form });
  expect(toBucket.code).not.toBe(0);

  const [task] = await requests.make('/admin/api/inventory/tasks', 1);
  await admin('POST', `/admin/api/inventory/tasks/${task}/retry`);
}

/** Does the work for all of a list, four at once. */
async function concurrently<T>(list: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const waiting = [...list];
  const next = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      await work(one);
    }
  };
  await Promise.all([next(), next(), next(), next()]);
}

/** Sends every write with planted secrets in the fields that hold one, and again with values that are refused. */
async function sendWrites(): Promise<string[]> {
  const refused: string[] = [];
  const writes = shop.server.routes.filter(({ method }) => method !== 'GET');
  await concurrently(writes, async (route) => {
    const order = route.path.includes('shipments') ? 'shipped' : route.path.endsWith('/ship') ? 'paid' : 'unpaid';
    const filled = await requests.fill(route, { order, large: false });
    const token = await requests.tokenFor(route);
    const send = (body: unknown, headers: Record<string, string> = {}) =>
      shop.call(route.method, filled.path + filled.query, { ...(token ? { token } : {}), body, headers });
    const fields = secretFieldsOf(route);
    const withSecrets = (value: (name: string) => unknown) =>
      fields.reduce((body, { path, name }) => withAt(body, path, value(name)), filled.body);
    const valid = withSecrets((name) => plant(`${name} of ${label(route)}`));
    const { code, status } = await send(valid, token ? { 'idempotency-key': randomUUID() } : {});
    if (code !== 0 && status < 500) refused.push(label(route));
    if (token && code !== 0) await send(valid);
    if (fields.length === 0) return;
    await send(withSecrets((name) => ({ no: plant(`wrong ${name} of ${label(route)}`) })));
    await send(withSecrets((name) => plant(`long ${name} of ${label(route)}`).padEnd(10_000, 'x')));
  });
  expect(refused.length, `refused, so little is proved: ${refused.join(', ')}`).toBeLessThan(writes.length / 4);
  return writes.map(label);
}

/** Sends every GET as staff, as a shopper and without a token, and reads the newest entries of each list. */
async function readAll(): Promise<string[]> {
  const gets = shop.server.routes.filter(({ method }) => method === 'GET');
  const read = async (path: string) => {
    for (const token of [requests.owner.token, undefined]) await shop.call('GET', path, token ? { token } : {});
    return admin('GET', path);
  };
  const visited = new Set<Route>();
  const isList = ({ path, query }: Route) =>
    !path.includes(':') && (!query || (inputSchema(query).required ?? []).length === 0);
  await concurrently(gets.filter(isList), async (route) => {
    const sizes = ['size', 'page_size'].filter(
      (name) => route.query && name in (inputSchema(route.query).properties ?? {}),
    );
    const { data } = await read(`${route.path}${sizes.map((name) => `?${name}=100`).join('')}`);
    visited.add(route);
    const rows = (Array.isArray(data) ? data : (data?.list ?? [])) as { id?: number | string }[];
    const ids = rows.flatMap(({ id }) => (id === undefined ? [] : [id]));
    for (const detail of gets.filter(({ path }) => path.startsWith(`${route.path}/:`) && path.split(':').length === 2))
      for (const [i, id] of [...ids.slice(0, 2), ...ids.slice(2).slice(-2)].entries()) {
        const path = detail.path.replace(/:\w+/, String(id));
        if (i === 0) await read(path);
        else await admin('GET', path);
        visited.add(detail);
      }
  });
  await concurrently(
    gets.filter((route) => !visited.has(route)),
    async (route) => {
      const { path, query } = await requests.fill(route, { order: 'shipped', large: false });
      await read(path + query);
    },
  );
  for (const server of [shop.url, shop.server.gateway!.url])
    for (const path of ['/docs', '/openapi.json', '/metrics', '/health', '/ready', '/no-such-path'])
      await fetch(server + path);
  return gets.map(label);
}

/** Commands that change the shop, run until they are stopped, or need a server. */
const notRun =
  /^(start|demo|seed|bench|backup (list|verify)|token (issue|revoke)|pay callback|wms replay|.* (reset|tracks|rotate|rebuild|simulate|load|run|sweep|retry|discard|deliver|sync|create|send))$/;
async function runCommands(): Promise<Place[]> {
  const commands = (await commandsWithJson()).filter((name) => !notRun.test(name));
  const places: Place[] = [];
  const run = async (args: string[], env: Record<string, string> = commandEnv, input = '') => {
    const { stdout, stderr } = await runCommandInProcess(args, { env, input });
    places.push({ place: `tradepost ${args.join(' ')}`, text: stdout + stderr });
    return stdout;
  };
  const silent: string[] = [];
  for (const name of commands)
    if ((await run([...name.split(' '), '--json'], commandEnv, requests.staff)) === '') silent.push(name);
  for (const name of ['settings list', 'settings log', 'config', 'doctor', 'changes list']) await run(name.split(' '));
  await run(['wms', 'deliver', '--once', '--json']);
  const backups = `${commandEnv.TRADEPOST_DATA}/backups/`;
  await run(['backup', 'create', backups, '--uploads', 'none', '--json']);
  await run(['backup', 'list', backups, '--json']);
  await run(['backup', 'verify', backups, '--checksums', '--json']);
  await run(['settings', 'get', 'sms.secret_key']);
  await run(['changes', 'export']);
  await run(['secrets', 'rotate', '--json']);
  await run(['staff', 'create', 'from-cli'], commandEnv, plant('password from standard input'));
  await run(['staff', 'passwd', 'from-cli'], {
    ...commandEnv,
    TRADEPOST_PASSWORD: plant('password of the environment'),
  });
  await run(['settings', 'set', 'sms.secret_key'], commandEnv, plant('secret from standard input'));
  await run(
    ['gateway', 'upstream', 'add', 'c', services.url('model'), '--key-stdin'],
    commandEnv,
    plant('key of an upstream'),
  );
  // Addresses at which nothing answers.
  const nowhere = { ...commandEnv, DATABASE_URL: `postgres://a:${plant('password of no database')}@127.0.0.1:1/a` };
  for (const args of [['settings', 'list'], ['doctor'], ['config']]) await run(args, nowhere);
  const noRedis = { ...commandEnv, REDIS_URL: `redis://:${plant('password of no Redis')}@127.0.0.1:1` };
  for (const args of [['settings', 'list'], ['doctor'], ['config']]) await run(args, noRedis);
  expect(silent, 'these show nothing: add them to notRun, or run them with arguments').toEqual([]);
  return places;
}

test('no setting that is an address accepts a user and a password, which would be shown with it', () => {
  const accepted = settings
    .filter(({ secret, fallback }) => !secret && typeof fallback === 'string')
    .filter(({ schema }) => {
      const fits = (text: string) => schema.safeParse(text).success;
      const isAddress = fits('https://host.example/a') && !fits('<no-address>');
      return isAddress && fits('https://user:password@host.example/a');
    });
  expect(accepted.map(({ key }) => key)).toEqual([]);
});

/** Puts a secret where none may be, so that the search can be seen to find it. */
async function leakOnPurpose(): Promise<string[]> {
  const leaked = plant('leaked on purpose');
  const { token } = requests.owner;
  await shop.call('PUT', `/api/v1/addresses/${requests.owner.address_id}`, {
    token,
    body: { name: 'Ann', phone: '13800000000', detail: leaked },
  });
  shop.server.runtime.log.debug({ note: Buffer.from(`a ${leaked}`).toString('base64') }, 'leaked on purpose');
  await shop.database
    .sql`update runtime.outbox set data = data || ${shop.database.sql.json({ note: encodeURIComponent(leaked) })}
    where id = (select min(id) from runtime.outbox)`;
  return ['PUT /api/v1/addresses/:id', 'table identity.addresses', 'log', 'table runtime.outbox'];
}

test('planted secrets are in no answer, log line, trail, export, output or table', async () => {
  await plantByApi();
  await logIn();
  await useServices();
  const writes = await sendWrites();
  const outputs = await runCommands();
  const reads = await readAll();
  const leakedTo = await leakOnPurpose();
  const tables = await tablesOf(shop.database);
  // The key file opens the sealed secrets. It has no secret of another system.
  const files = (await filesOf(shop.server.runtime.config.data)).filter(({ place }) => place !== 'file secrets.key');
  const log = lines.map((text) => ({ place: 'log', text }));
  const places = [...answers.places, ...outputs, ...tables, ...files, ...log];

  const found = marks.search(places);
  const { planted, made } = marks.count();
  process.stdout.write(
    `${planted} secrets planted and ${made} made by the shop; searched ${places.length} places: ${answers.places.length} answers of ` +
      `${reads.length + writes.length} routes, ${outputs.length} outputs, ${tables.length} tables, ${files.length} files, ${log.length} log lines\n`,
  );
  const isException = ({ secret, place }: { secret: string; place: string }) =>
    exceptions.find((one) => one.secret === secret && one.places.test(place));
  const leaks = found.filter((leak) => !isException(leak));
  expect([
    ...new Set(leaks.map(({ secret, place, form, near }) => `${place}: ${secret} (${form}) in ...${near}...`)),
  ]).toEqual([]);
  expect(answers.faults, 'answers with a field that is named like a secret').toEqual([]);
  // What is found by design shows that the search works, and all services were asked.
  expect(exceptions.filter((one) => !found.some((leak) => isException(leak) === one))).toEqual([]);
  expect(found.flatMap(({ secret, place }) => (secret === 'leaked on purpose' ? [place] : []))).toEqual(
    expect.arrayContaining(leakedTo),
  );
  const asked = new Set(services.received.map(({ service }) => service));
  const known = [...Object.keys(settingsOfService), 'images', 'model', 'hook'];
  expect(
    known.filter((service) => !asked.has(service)),
    'services that were not asked',
  ).toEqual([]);
}, 600_000);
