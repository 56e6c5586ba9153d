import type { Attack } from './attack.ts';
import { faultOfReply, openAttacker } from './attacker.ts';
import { inParallel } from './sockets.ts';

type Parameter = { name: string; in: string };
type Document = { paths: Record<string, Record<string, { parameters?: Parameter[] }>> };

const numbers = ['0', '-1', '9007199254740992', '1000000000', '1e308', 'NaN', '1.5', '٣', '0x10', '2147483648'];
const texts = [
  '%'.repeat(500),
  '_'.repeat(500),
  '%_'.repeat(250),
  '\\'.repeat(501),
  `${'a'.repeat(40)}!(a+)+$`,
  "' or '1'='1",
  '\u0000',
  '\ud800',
  '订单'.repeat(200),
  'a '.repeat(400),
  'x'.repeat(3_000),
];
const dates = ['0000-00-00', '9999-12-31T23:59:59Z', '-infinity', '2024-02-30', '1e9'];
const lists = [Array.from({ length: 2_000 }, (_, index) => index + 1).join(','), ',,,,', '1,-1,x'];

const answerMs = { short: 5_000, long: 2_000 } as const;
const answerBytes = 1024 * 1024;

const valuesOf = (name: string): readonly string[] => {
  if (/^(page|size|limit)$|_id$|^(status|amount_\w+)$/.test(name)) return numbers;
  if (/(_at|time_\w+|from|to)$/.test(name)) return [...dates, ...numbers.slice(0, 3)];
  if (/ids$/.test(name)) return lists;
  return texts;
};

/** No page, size, keyword or filter makes a list fail, slow, or longer than a page. */
export const paging: Attack = {
  name: 'paging',
  about: 'extreme pages, sizes, keywords and filters on every list of the API',
  transports: 'any',
  async run(attackRun) {
    const { servers, target, size } = attackRun;
    const attacker = openAttacker({ sockets: 16 });
    const document = JSON.parse((await attacker.ask(target.api.url, '/openapi.json')).text) as Document;
    const [shopper] = await servers.shoppers(1);
    const asked = Object.entries(document.paths).flatMap(([path, methods]) => {
      const parameters = methods.get?.parameters?.filter((parameter) => parameter.in === 'query') ?? [];
      return parameters
        .filter(({ name }) => name !== 'lang')
        .flatMap(({ name }) => valuesOf(name).map((value) => ({ path, name, value })));
    });
    if (asked.length < 300) attackRun.fault(`only ${asked.length} queries were found in /openapi.json`);
    await inParallel(asked, 16, async ({ path, name, value }) => {
      const isShoppers = /^\/api\/(v1|pay|auth)\//.test(path);
      const at = path.replace(/\{\w+\}/g, '1');
      const query = `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`;
      const reply = await attacker.ask(
        target.api.url,
        `${at}?${query}&size=100`.replace('size=100', name === 'size' ? '' : 'size=100'),
        {
          token: isShoppers ? shopper!.token : servers.staff,
        },
      );
      attackRun.sent(1);
      const what = `GET ${at}?${name}=${value.slice(0, 30)}`;
      const fault = faultOfReply(reply);
      if (fault) attackRun.fault(`${what}: ${fault}`);
      if (reply.ms > answerMs[size]) attackRun.fault(`${what}: ${Math.round(reply.ms)} ms (at most ${answerMs[size]})`);
      if (reply.bytes > answerBytes) attackRun.fault(`${what}: ${reply.bytes} bytes (at most ${answerBytes})`);
    });
    attacker.close();
  },
};
