import { defineErrors } from '@tradepost/core';

export const contentErrors = defineErrors({
  variant_not_found: { code: 404, en: 'Decoration variant not found', 'zh-CN': '装修版本不存在' },
  page_not_found: { code: 404, en: 'Nothing was saved for this page', 'zh-CN': '该页面没有任何内容' },
  publication_not_found: { code: 404, en: 'Publication not found', 'zh-CN': '发布记录不存在' },
  copy_to_itself: {
    code: 500,
    en: 'new_variant_key: must differ from from_variant_key',
    'zh-CN': 'new_variant_key：不能与 from_variant_key 相同',
  },
  variant_exists: { code: 500, en: 'Variant {key} exists already', 'zh-CN': '版本 {key} 已存在' },
  default_variant: { code: 500, en: 'The default variant cannot be deleted', 'zh-CN': '默认版本不能删除' },
  published_variant: { code: 500, en: 'The published variant cannot be deleted', 'zh-CN': '已发布的版本不能删除' },
  too_many_pages: { code: 409, en: 'There are {max} pages already', 'zh-CN': '页面已达 {max} 个' },
  too_many_variants: {
    code: 409,
    en: 'The page has {max} variants already',
    'zh-CN': '该页面的版本已达 {max} 个',
  },
  components_form: { code: 400, en: 'components: must be a list', 'zh-CN': 'components：须为列表' },
  components_json: {
    code: 400,
    en: 'components: the text is not valid JSON',
    'zh-CN': 'components：文本不是有效的 JSON',
  },
  components_size: {
    code: 400,
    en: 'components: must have at most {max} bytes as JSON',
    'zh-CN': 'components：JSON 最多 {max} 字节',
  },
  rich_text_size: {
    code: 400,
    en: '{field}: a text with tags must have at most {max} characters',
    'zh-CN': '{field}：含标签的文本最多 {max} 个字符',
  },
  too_deep: {
    code: 400,
    en: '{field}: at most {max} levels of objects and lists',
    'zh-CN': '{field}：对象和列表最多嵌套 {max} 层',
  },
  unstorable: {
    code: 400,
    en: '{field}: must not contain NUL or broken Unicode',
    'zh-CN': '{field}：不能包含 NUL 或无效的 Unicode',
  },
  address: {
    code: 400,
    en: '{field}: this kind of address is not allowed',
    'zh-CN': '{field}：不支持此类地址',
  },
});
