import { defineErrors } from '@tradepost/core';

/**
 * The refusals of the HTTP layer. Refusals by a rule of the shop have HTTP 200; faults of the protocol have their own
 * status.
 */
export const httpErrors = defineErrors({
  invalid_field: { code: 400, en: '{reason}', 'zh-CN': '{reason}' },
  invalid_json: { code: 400, status: 400, en: 'The body is not valid JSON', 'zh-CN': '请求体不是有效的 JSON' },
  invalid_json_frame: { code: 400, en: 'The frame is not valid JSON', 'zh-CN': '消息不是有效的 JSON' },
  bad_request: { code: 400, status: 400, en: 'Malformed request', 'zh-CN': '请求格式错误' },
  not_logged_in: { code: 401, status: 401, en: 'Please log in', 'zh-CN': '请先登录' },
  invalid_token: { code: 401, status: 401, en: 'Token invalid or expired', 'zh-CN': '登录已失效，请重新登录' },
  wrong_account_kind: { code: 403, en: 'No permission', 'zh-CN': '无权限' },
  missing_permission: { code: 403, en: 'No permission: {permission}', 'zh-CN': '无权限：{permission}' },
  unknown_route: { code: 404, status: 404, en: 'No such endpoint', 'zh-CN': '接口不存在' },
  method_not_allowed: {
    code: 405,
    status: 405,
    en: 'Method not allowed, try {allowed}',
    'zh-CN': '请求方法不支持，可用：{allowed}',
  },
  body_timeout: { code: 408, status: 408, en: 'The body did not arrive in time', 'zh-CN': '请求体接收超时' },
  body_incomplete: {
    code: 400,
    status: 400,
    en: 'The connection ended before the end of the body',
    'zh-CN': '请求体未接收完整，连接已断开',
  },
  body_too_large: {
    code: 413,
    status: 413,
    en: 'The body is too large: at most {limit} bytes',
    'zh-CN': '请求体过大，最多 {limit} 字节',
  },
  unsupported_media_type: {
    code: 415,
    status: 415,
    en: 'Content-Type must be application/json',
    'zh-CN': 'Content-Type 须为 application/json',
  },
  upgrade_required: {
    code: 426,
    status: 426,
    en: 'This path takes WebSocket connections only',
    'zh-CN': '该路径仅支持 WebSocket 连接',
  },
  too_many_sockets: {
    code: 429,
    status: 429,
    en: 'Too many open connections: at most {limit}',
    'zh-CN': '连接过多，最多 {limit} 个',
  },
  no_free_socket: {
    code: 503,
    status: 503,
    en: 'All connections are in use, please try again',
    'zh-CN': '连接数已满，请稍后重试',
  },
  too_many_files: {
    code: 429,
    status: 429,
    en: 'Too many downloads at once: at most {limit}',
    'zh-CN': '同时下载过多，最多 {limit} 个',
  },
  no_free_file: {
    code: 503,
    status: 503,
    en: 'Too many downloads at once, please try again',
    'zh-CN': '下载人数过多，请稍后重试',
  },
  headers_too_large: { code: 431, status: 431, en: 'The headers are too large', 'zh-CN': '请求头过大' },
  too_many_bodies: {
    code: 503,
    status: 503,
    en: 'Too many requests with large bodies at once, please try again',
    'zh-CN': '大请求过多，请稍后重试',
  },
  internal: {
    code: 500,
    status: 500,
    en: 'Something went wrong on our side (trace {trace})',
    'zh-CN': '服务器内部错误（跟踪号 {trace}）',
  },
});

const byStatus: Readonly<Record<number, keyof typeof httpErrors>> = {
  400: 'bad_request',
  404: 'unknown_route',
  408: 'body_timeout',
  415: 'unsupported_media_type',
  431: 'headers_too_large',
  503: 'too_many_bodies',
};

/** The refusal for a fault that the transport or the router found. */
export function faultOf(status: number, trace: string) {
  const name = byStatus[status];
  return name ? httpErrors[name]() : httpErrors.internal({ trace });
}
