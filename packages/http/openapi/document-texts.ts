import type { Locale } from '@tradepost/core';
import type { Auth } from '../routing/route.ts';

/** The texts that all operations share, and the introduction of the reference page (Markdown). */
export type DocumentTexts = {
  readonly introduction: string;
  readonly auth: Readonly<Record<Auth, string>>;
  readonly permission: (code: string) => string;
  readonly shopperToken: string;
  readonly staffToken: string;
  readonly lang: string;
  readonly idempotencyKey: string;
  readonly success: string;
  readonly file: string;
  readonly refusal: string;
  readonly refusalCode: string;
  readonly msg: string;
  readonly notModified: string;
  readonly unauthorized: string;
  readonly fault: string;
};

const en: DocumentTexts = {
  introduction: `Storefront (\`/api/v1\`) and back-office (\`/admin/api\`) API. 中文：[/docs?lang=zh-CN](/docs?lang=zh-CN)

**Log in.** Open \`POST /api/auth/login\` (shoppers) or \`POST /admin/api/auth/login\` (administrators), choose *Try it out*, then
*Execute*. This page keeps the token of the answer and sends it with every further call; *Authorize* shows and removes it. A
program sends \`Authorization: Bearer <token>\`. The accounts in the examples are those of the demo shop: \`demo\` with
\`demo123456\`, and \`admin\` with \`admin123\`. Other shops do not have them.

**Answers.** Every answer is an envelope \`{ code, message, msg, data }\`. Code 0 is success. A refusal by a rule is HTTP 200 with its
code and \`data: null\`. The codes of refusals are listed; a later release can add codes.

**Values.** Amounts are numbers with two decimals, times ISO 8601 with offset. An empty query value counts as absent.

**Examples.** The ids of products, categories, addresses and promotions in the examples exist in the demo shop. Order 1 is the
first order that you place.`,
  auth: {
    public: 'Public.',
    optional: 'Works without a token. With a shopper’s token the answer also has data of this shopper.',
    shopper: 'A shopper’s token.',
    staff: 'An administrator’s token.',
    any: 'A shopper’s or an administrator’s token.',
  },
  permission: (code) => `Permission \`${code}\`.`,
  shopperToken: 'The token of a shopper, from `POST /api/auth/login`. This page fills it in when you log in.',
  staffToken:
    'The token of an administrator, from `POST /admin/api/auth/login`. This page fills it in when you log in.',
  lang: 'Language of messages and labels. It has priority over Accept-Language.',
  idempotencyKey:
    'A text of your own for one write, for example a UUID. It makes the write safe to repeat for 24 hours: the same key with the ' +
    'same request gets the answer of the first one (header `Idempotency-Replayed: true`). The same key with another request is ' +
    'refused with 422. A repeat is refused with 409 while the first request runs, or when it is unknown whether it took effect.',
  success: 'Success (code 0), or a refusal by a rule (code other than 0, data null)',
  file: 'The file, sent while it is made; or a refusal by a rule. A connection that ends early means an incomplete file',
  refusal: 'A refusal with this HTTP status',
  refusalCode: 'the code of the refusal, by a rule of the shop or by the protocol; a later release can add codes',
  msg: 'repeats message',
  notModified: 'If-None-Match has the ETag of the answer',
  unauthorized: 'No token, or one that is invalid, expired or revoked',
  fault:
    'A fault of the protocol (400, 404, 405, 408, 413, 415, 431) or of the server (5xx). 413: the body is larger than `x-body-limit`',
};

const zhCN: DocumentTexts = {
  introduction: `商城前台（\`/api/v1\`）与管理后台（\`/admin/api\`）接口。English: [/docs](/docs)

**登录。** 打开 \`POST /api/auth/login\`（买家）或 \`POST /admin/api/auth/login\`（管理员），点击 *Try it out*，再点击 *Execute*。
本页会保存返回的 token，并在之后的每次请求中带上；可在 *Authorize* 中查看或移除。程序调用时请发送 \`Authorization: Bearer <token>\`。
示例中的账号属于演示商城：\`demo\` / \`demo123456\`，\`admin\` / \`admin123\`，其他商城没有这些账号。

**响应。** 所有响应均为 \`{ code, message, msg, data }\`，code 为 0 表示成功。业务规则拒绝时 HTTP 状态码为 200，code 为错误码，
\`data\` 为 null。错误码已列出，后续版本可能增加。

**取值。** 金额为两位小数的数字，时间为带时区的 ISO 8601。空的查询参数视为未传。

**示例。** 示例中的商品、分类、地址和营销活动编号均存在于演示商城。订单 1 是您下的第一个订单。`,
  auth: {
    public: '公开。',
    optional: '无需 token；带买家 token 时，响应还包含该买家的数据。',
    shopper: '需要买家 token。',
    staff: '需要管理员 token。',
    any: '需要买家或管理员 token。',
  },
  permission: (code) => `所需权限：\`${code}\`。`,
  shopperToken: '买家 token，由 `POST /api/auth/login` 返回。在本页登录后自动填入。',
  staffToken: '管理员 token，由 `POST /admin/api/auth/login` 返回。在本页登录后自动填入。',
  lang: '提示信息与标签的语言，优先于 Accept-Language。',
  idempotencyKey:
    '由调用方为一次写操作生成的唯一文本，例如 UUID。24 小时内可安全重试：相同的键和相同的请求返回首次的响应' +
    '（响应头 `Idempotency-Replayed: true`）；相同的键用于其他请求时返回 422；首个请求仍在处理，或无法确定其是否生效时返回 409。',
  success: '成功（code 为 0），或被业务规则拒绝（code 不为 0，data 为 null）',
  file: '边生成边发送的文件，或被业务规则拒绝的响应。连接提前断开表示文件不完整',
  refusal: '使用该 HTTP 状态码的拒绝',
  refusalCode: '业务规则或协议的错误码，后续版本可能增加',
  msg: '与 message 相同',
  notModified: 'If-None-Match 与响应的 ETag 相同',
  unauthorized: '未提供 token，或 token 无效、已过期、已注销',
  fault: '协议错误（400、404、405、408、413、415、431）或服务器错误（5xx）。413：请求体超过 `x-body-limit`',
};

export const documentTexts: Readonly<Record<Locale, DocumentTexts>> = { en, 'zh-CN': zhCN };
