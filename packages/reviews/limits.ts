/** Bounds of the answers of orders, which show reviews too: lines, additions of a review, pictures of a review. */
export { maxLines as maxReviewLines, maxReviewAppends, maxReviewImages as maxShownImages } from '@tradepost/orders';
/** Characters of a review, an addition or a reply. */
export const maxContent = 1_000;
/** Pictures of a review or an addition. Further ones are refused. Reviews of earlier versions may have more. */
export const maxReviewImages = 9;
/** Pictures of a request, before repeated ones are removed. */
export const maxSentImages = 50;
/** Characters of the address of a picture. */
export const maxImageAddress = 500;
/** Reviews on a page of a product. */
export const maxReviewPage = 50;
/** Reviews with a keyword are counted up to this number by index. From there on the keyword is common. */
export const commonKeyword = 5_000;
/** The newest reviews that are searched for a common keyword. */
export const searchedReviews = 50_000;
