/** Most entries of each kind that a shop can have; a further one is refused by name. */
export const maxCategories = 2_000;
/** Favourites of a shopper. */
export const maxFavorites = 2_000;
/** Groups of specifications of a product, and values of a group. */
export const maxSpecs = 10;
export const maxSpecValues = 300;
/** Active SKUs of a product. */
export const maxCombinations = 300;
/** SKUs of a product with those that are no longer sold. */
export const maxSkus = 1_000;
export const maxImages = 50;
/** Templates of specifications on one page. */
export const maxTemplatePage = 1_000;
/** Categories of a template. */
export const maxTemplateCategories = 1_000;
/** Pictures of a review, and what its writer adds later. */
export const maxReviewImages = 50;
export const maxReviewAppends = 20;
/** Characters of JSON of a page: text and pictures; lists answer it a hundred times. */
export const maxDetail = 100_000;
/** Characters of the id and the type of a block. */
export const maxWord = 1_000;
/** Blocks and properties: more do not fit into these characters. */
export const maxBlocks = 4_000;
export const maxProperties = 20_000;
