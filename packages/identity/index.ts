export { type Address, selectAddressesOf, selectDefaultAddresses } from './addresses/address-store.ts';
export { enqueueNotices, isNoticeOn, type Notice } from './messages/enqueue-notices.ts';
export { failureText, isPermanent, type Messenger, messengerService } from './messages/messenger.ts';
export { type ShopperNotice, shopperNotices } from './messages/notices.ts';
export {
  type MessageChannel,
  type MessageSender,
  messageChannels,
  messageSenders,
  SendError,
} from './messages/sender.ts';
export { identityModule, tokensService } from './module.ts';
export { demoAccounts } from './seed-demo-accounts.ts';
export { identitySettings } from './settings.ts';
export { createShopper, createStaff } from './shoppers/accounts.ts';
export {
  activeShoppers,
  lockActiveShoppers,
  lockShoppers,
  onShopperTokensEnded,
  shoppersEndedSince,
} from './shoppers/active-shoppers.ts';
export { selectContacts, selectShoppersByContact } from './shoppers/contact-store.ts';
export { selectNicknames, selectShopper, selectShopperByLogin } from './shoppers/identity-store.ts';
export { hashPassword } from './shoppers/passwords.ts';
export { type ProfileSection, profileSections } from './shoppers/profile-sections.ts';
export { shopperDeleted } from './shoppers/shopper-events.ts';
export { shopperNamed } from './shoppers/shopper-named.ts';
export { nicknameHolds, shoppersByNickname, shoppersByReceiver } from './shoppers/shopper-search-store.ts';
export { selectOwner } from './staff/staff-store.ts';
export { inspectToken } from './tokens/inspect-token.ts';
export { openTokens, type Tokens } from './tokens/tokens.ts';
