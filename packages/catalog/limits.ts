/** The largest number of categories in a shop. The refusal of a further one states the limit. */
export const maxCategories = 2_000;
/** Favourites of a shopper. */
export const maxFavorites = 2_000;
/** Groups of specifications of a product, and values of one group. */
export const maxSpecs = 10;
export const maxSpecValues = 300;
/** Active SKUs of a product. */
export const maxCombinations = 300;
/** SKUs of a product, including SKUs that are no longer sold. */
export const maxSkus = 1_000;
export const maxImages = 50;
/** Specification templates on one page. */
export const maxTemplatePage = 1_000;
/** Categories of a template. */
export const maxTemplateCategories = 1_000;
/** Characters of JSON of a product page (texts and pictures). A list may answer a hundred of them. */
export const maxDetail = 100_000;
/** Characters of the id and the type of a block. */
export const maxWord = 1_000;
/** Blocks and properties. More do not fit into the characters of a page. */
export const maxBlocks = 4_000;
export const maxProperties = 20_000;
