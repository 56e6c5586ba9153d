export { chooseModules } from './choose-modules.ts';
export { declaredBy } from './declared-by.ts';
export type { DemoCounts, DemoSeed } from './demo-seed.ts';
export { type DoctorArea, type DoctorCheck, type DoctorFacts, developmentArea } from './doctor.ts';
export {
  type Finding,
  type Findings,
  findingsOf,
  isLoopback,
  isNotEncrypted,
  type Level,
  levels,
  messageOf,
} from './finding.ts';
export type { Menu, MenuEntry, MenuPage, MenuTitle } from './menu.ts';
export type {
  CommandContext,
  Module,
  ModuleCommand,
  ModuleContext,
  OpenedModule,
  RegisterCommand,
} from './module.ts';
export { openCommandContext } from './open-command-context.ts';
export { type OpenedModules, openModules } from './open-modules.ts';
export { type CouponIssue, type CouponIssuer, couponIssuers } from './registries/coupon-issuers.ts';
export {
  type DashboardCard,
  type DashboardList,
  type DashboardReader,
  type DashboardRows,
  dashboardCards,
  dashboardLists,
  type ReportFacts,
  reportFacts,
} from './registries/dashboard.ts';
export { eventReaders } from './registries/event-readers.ts';
export { type ImportedOrderReader, importedOrderReaders } from './registries/imported-orders.ts';
export {
  defineInboxTemplate,
  type InboxGroup,
  type InboxTemplate,
  type InboxTexts,
  inboxGroups,
  inboxTemplates,
} from './registries/inbox-templates.ts';
export { type MemberLevels, memberLevels } from './registries/member-levels.ts';
export {
  type DecorationStatus,
  decorationStatuses,
  type ShopDecoration,
  shopDecoration,
} from './registries/shop-decoration.ts';
export {
  type Contribution,
  defineRegistry,
  defineService,
  type Provision,
  type Registry,
  type Service,
  type StaticEntries,
} from './registry.ts';
export { type SettingReader, type StoredSettings, settingsIn } from './settings-in.ts';
export { staticEntriesOf } from './static-entries.ts';
