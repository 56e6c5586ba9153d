/** The most warehouses of a shop. Drop-down lists request all of them without paging. */
export const maxWarehouses = 1_000;
/**
 * The most lines of a document in a request or an answer. A provider migration may write longer documents; the
 * movements show all their lines.
 */
export const maxItems = 1_000;
/** Stock to sell of a SKU without safety stock from which it is low. The product list uses the same limit. */
export const lowStock = 10;
/** The most SKUs in one request for stock, and the most rows of its answer. */
export const maxRequestedSkus = 1_000;
export const maxStockRows = 20_000;
/**
 * The most SKUs that one search for low stock compares, and the most events that it records. The dashboard of a catalogue with
 * more SKUs shows what the searches have found.
 */
export const maxScannedSkus = 20_000;
export const maxLowStockEvents = 1_000;
/** The most searches in a minute. */
export const maxSearches = 10;
