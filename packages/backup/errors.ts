import { defineErrors } from '@tradepost/core';

export const backupErrors = defineErrors({
  another_backup: {
    code: 409,
    en: 'Another backup of this database is being made: try again when it has ended',
    'zh-CN': '该数据库正在备份：请在其结束后重试',
  },
  another_restore: {
    code: 409,
    en: 'Another restore into this database is running',
    'zh-CN': '正在向该数据库恢复备份',
  },
  already_exists: {
    code: 409,
    en: '{place} exists already: choose another name, or remove it',
    'zh-CN': '{place} 已存在：请使用其他名称或将其删除',
  },
  not_found: { code: 404, en: 'There is no backup {place}', 'zh-CN': '没有备份 {place}' },
  no_folder: {
    code: 422,
    en: '{place} is a file: list names a folder or a bucket, and verify checks one file',
    'zh-CN': '{place} 是文件：list 需要目录或存储桶，verify 可检查单个文件',
  },
  none_complete: { code: 404, en: 'There is no complete backup in {place}', 'zh-CN': '{place} 中没有完整的备份' },
  incomplete: {
    code: 422,
    en: '{place} is not complete: its backup was interrupted, or the file was cut off. Use another backup',
    'zh-CN': '{place} 不完整：备份过程被中断，或文件被截断。请使用其他备份',
  },
  altered: {
    code: 422,
    en: '{place} was altered or is damaged ({part}): its checksum is wrong. Use another backup',
    'zh-CN': '{place} 已被修改或损坏（{part}）：校验和不符。请使用其他备份',
  },
  no_backup: {
    code: 422,
    en: '{place} is no backup of a shop, or its beginning is damaged',
    'zh-CN': '{place} 不是商店备份，或其开头已损坏',
  },
  newer_format: {
    code: 422,
    en: '{place} was made by a newer version of the program ({program}): restore it with that version or a later one',
    'zh-CN': '{place} 由更新版本的程序（{program}）创建：请使用该版本或更高版本恢复',
  },
  newer_schema: {
    code: 422,
    en: '{place} has migration {migration}, which this version does not know: restore it with version {program} or a later one',
    'zh-CN': '{place} 含有本版本未知的迁移 {migration}：请使用 {program} 或更高版本恢复',
  },
  other_schema: {
    code: 422,
    en: '{place} was made with another text of migration {migration}: restore it with the program that made it ({program})',
    'zh-CN': '{place} 创建时的迁移 {migration} 内容不同：请使用创建它的程序（{program}）恢复',
  },
  unknown_table: {
    code: 422,
    en: '{table} of the backup does not exist at its migration: restore it with version {program}, without tables of other programs',
    'zh-CN': '备份中的 {table} 在其迁移版本中不存在：请使用 {program} 版本恢复，且不要包含其他程序的表',
  },
  no_compression: {
    code: 422,
    en: 'This Node.js cannot read {compression}, with which the backup is compressed: run the Node.js of the checkout',
    'zh-CN': '此 Node.js 无法读取备份所用的 {compression} 压缩：请使用本项目自带的 Node.js',
  },
  not_empty: {
    code: 409,
    en: 'The database is not empty ({tables}): a backup is restored into an empty one, such as createdb shop_restored, or a new data folder (--data)',
    'zh-CN': '数据库不为空（{tables}）：备份只能恢复到空数据库，例如 createdb shop_restored，或新的数据目录（--data）',
  },
  wrong_encoding: {
    code: 422,
    en: 'The encoding of the database is {encoding}, and the shop needs UTF8: createdb --encoding=UTF8 --template=template0',
    'zh-CN': '数据库编码为 {encoding}，商店需要 UTF8：createdb --encoding=UTF8 --template=template0',
  },
  no_shop: { code: 409, en: 'The database has no shop', 'zh-CN': '数据库中没有商店' },
  newer_database: {
    code: 409,
    en: 'The database has migration {migration}, which this version does not know: back it up with the version that runs on it',
    'zh-CN': '数据库含有本版本未知的迁移 {migration}：请使用其当前运行的版本备份',
  },
  definitions_changed: {
    code: 500,
    en: 'After the restore {name} is not defined as the migrations define it',
    'zh-CN': '恢复后 {name} 的定义与迁移不一致',
  },
  cannot_create_database: {
    code: 403,
    en: 'The account of the database may not create a temporary database: alter role shop createdb, or verify without DATABASE_URL, in a temporary embedded PostgreSQL',
    'zh-CN':
      '数据库账号无权创建临时数据库：请执行 alter role shop createdb，或不设 DATABASE_URL，使用临时内置 PostgreSQL 验证',
  },
  bucket_not_ready: {
    code: 422,
    en: 'The bucket of backups is not set up: {missing}',
    'zh-CN': '备份存储桶未配置：{missing}',
  },
  no_destination: {
    code: 422,
    en: 'Name a file, a folder or s3://bucket/prefix, or set backup.destination',
    'zh-CN': '请指定文件、目录或 s3://bucket/prefix，或设置 backup.destination',
  },
});
