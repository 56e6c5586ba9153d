/** Products of the mall. */
export const maxProducts = 2_000;
export const maxTitle = 200;
export const maxDescription = 10_000;
export const maxImages = 20;
/** Characters of the address of a picture. */
export const maxImageAddress = 500;
/** Characters of `images` as a JSON string. */
export const maxImagesText = 12_000;
export const maxVirtualContent = 2_000;
/** The most points of one piece, the largest stock, and the largest limits of a shopper. */
export const maxPointsPrice = 1_000_000_000;
export const maxStock = 1_000_000_000;
export const maxLimit = 1_000_000;
/** The largest position in the list of products. */
export const maxSort = 1_000_000;
/** Pieces of one exchange. */
export const maxQty = 100;
export const maxTrackingNo = 64;
/** Characters of the reason of a cancellation. */
export const maxReason = 200;
/** Characters of a part of an address. */
export const maxAddressPart = 64;
export const maxAddressDetail = 256;
/** Products and exchanges on a page of the back office, and of a shopper. */
export const maxAdminPage = 1_000;
export const maxMallPage = 100;
/** Exchanges that a list counts, and whose pages it has. */
export const maxListed = 100_000;
