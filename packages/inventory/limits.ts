/** Warehouses of a shop; drop-downs ask without paging and want them all. */
export const maxWarehouses = 1_000;
/** Lines of a document as it is answered: a stock take-over may write more, which its movements show. */
export const maxItems = 1_000;
/** SKUs of one question for stock, and rows of its answer. */
export const maxRequestedSkus = 1_000;
export const maxStockRows = 20_000;
