import { countIn, jsonIn, type Received, type Refusal, type Service, sidesIn } from './service.ts';

/** The text fields of a multipart form, and whether it has a file in the field `image`. */
function formIn({ headers, body }: Received): { fields: Record<string, string>; hasImage: boolean } {
  const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1];
  const fields: Record<string, string> = {};
  let hasImage = false;
  for (const part of boundary ? body.toString('latin1').split(`--${boundary}`) : []) {
    const name = /name="([^"]+)"/.exec(part)?.[1]?.replace(/\[\]$/, '');
    const start = part.indexOf('\r\n\r\n');
    if (!name || start < 0) continue;
    if (/filename="/.test(part.slice(0, start))) hasImage ||= name === 'image' && part.length - start > 20;
    else fields[name] = Buffer.from(part.slice(start + 4, -2), 'latin1').toString('utf8');
  }
  return { fields, hasImage };
}

const refusal = (code: string, message: string) => ({ error: { code, message, type: 'invalid_request_error' } });

const refusals: Readonly<Record<Refusal, [number, string, string]>> = {
  error: [500, 'server_error', 'simulated fault'],
  rate_limit: [429, 'rate_limit_exceeded', 'too many requests'],
  policy: [400, 'content_policy_violation', 'the prompt was refused by the safety system'],
};

/** `images/generations` and `images/edits` of the OpenAI API. Qianfan (wenxin) has the former, with `refer_image`. */
export const openaiService: Service = {
  name: 'openai',
  matches: ({ method, path }) => method === 'POST' && /\/images\/(generations|edits)$/.test(path),
  refusal(reason) {
    const [status, code, message] = refusals[reason];
    return { status, answer: refusal(code, message) };
  },
  read(request, key) {
    if (request.headers.authorization !== `Bearer ${key}`)
      return { status: 401, answer: refusal('invalid_api_key', `Incorrect API key: ${request.headers.authorization}`) };
    const isEdit = request.path.endsWith('/edits');
    const form = isEdit ? formIn(request) : { fields: jsonIn(request.body), hasImage: false };
    const { prompt, size, n, refer_image } = form.fields;
    const hasImage = form.hasImage || String(refer_image ?? '').length > 0;
    if (typeof prompt !== 'string' || prompt === '')
      return { status: 400, answer: refusal('missing_required_parameter', 'prompt is required') };
    if (isEdit && !hasImage) return { status: 400, answer: refusal('missing_required_parameter', 'image is required') };
    return {
      order: { prompt, count: countIn(n), hasImage, ...sidesIn(size) },
      answer: (pictures) => ({ created: 1_800_000_000, data: pictures }),
    };
  },
};
