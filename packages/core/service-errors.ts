import { defineErrors } from './errors.ts';

/** Refusals of a service that cannot accept a request now. All packages may use them. */
export const serviceErrors = defineErrors({
  busy: { code: 503, status: 503, en: 'The shop is busy, please try again', 'zh-CN': '系统繁忙，请稍后重试' },
  stopping: { code: 503, status: 503, en: 'The server is shutting down', 'zh-CN': '服务正在关闭' },
});
