import { defineErrors } from '@tradepost/core';

export const uploadErrors = defineErrors({
  no_file: { code: 400, en: 'Please select a file', 'zh-CN': '请选择文件' },
  one_file: { code: 400, en: 'file: send one file per request', 'zh-CN': 'file：每次请求只能上传一个文件' },
  empty_file: { code: 400, en: 'file: the file is empty', 'zh-CN': 'file：文件为空' },
  not_multipart: {
    code: 400,
    en: 'Content-Type must be multipart/form-data with a boundary',
    'zh-CN': 'Content-Type 须为带 boundary 的 multipart/form-data',
  },
  malformed_form: {
    code: 400,
    en: 'The form is malformed: it has no end, a broken part, or too many parts',
    'zh-CN': '表单格式错误：缺少结尾、某部分已损坏或部分过多',
  },
  wrong_type: {
    code: 400,
    en: 'file: its content has no allowed type ({allowed})',
    'zh-CN': 'file：文件内容不属于允许的类型（{allowed}）',
  },
  too_large: {
    code: 400,
    en: 'file: the file is too large, at most {limit} bytes',
    'zh-CN': 'file：文件过大，最多 {limit} 字节',
  },
  too_many_uploads: {
    code: 429,
    en: 'At most {limit} uploads in an hour, please try again later',
    'zh-CN': '每小时最多上传 {limit} 个文件，请稍后重试',
  },
  unknown_driver: { code: 500, en: 'Unknown storage driver: {driver}', 'zh-CN': '未知的存储驱动：{driver}' },
  driver_off: {
    code: 500,
    en: 'The storage driver {driver} is switched off',
    'zh-CN': '存储驱动 {driver} 已停用',
  },
  driver_not_ready: {
    code: 500,
    en: 'The storage driver {driver} is not set up: {setting} is empty',
    'zh-CN': '存储驱动 {driver} 未配置：{setting} 为空',
  },
  driver_failed: {
    code: 500,
    en: 'The storage {driver} did not accept the file, please try again',
    'zh-CN': '存储 {driver} 未能保存文件，请重试',
  },
  disk_full: {
    code: 500,
    en: 'There is no space left for uploads',
    'zh-CN': '上传空间不足',
  },
  folder_failed: {
    code: 500,
    en: 'Files can not be stored at the moment, please try again later',
    'zh-CN': '暂时无法保存文件，请稍后重试',
  },
});
