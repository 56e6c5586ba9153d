import { csvFaults } from '@tradepost/csv';

/** Texts of the faults in a catalogue file. A command shows them, so they are in English only. */
export const { fault: csvFault, fileError: csvFileError } = csvFaults({
  long_key: 'longer than {max} characters',
  no_key: 'needed, unless the line has a handle',
  scattered: 'the lines of a product must follow each other: line {line} was the last of this one',
  repeated: 'line {line} already has this product ({id})',
  too_many_lines: 'the product has more than {max} lines or {characters} characters',
  differs: 'line {line} has another value for the same product',
  not_integer: 'must be a whole number',
  not_amount: 'must be an amount such as 12.90, with at most two decimals',
  not_json: 'is not valid JSON',
  not_detail: 'must be {"version":1,"blocks":[...]} with a type in each block',
  not_pairs: 'must be name=value; name=value',
  not_images: 'must be one address per line, or JSON [{"url":...,"sort":...}]',
  not_category: 'must be names joined with " / ", at most {levels} levels of {max} characters',
  too_many_categories: 'category: the products from here on need more categories than the {max} a shop can have',
  not_category_detail: 'must be a JSON list with as many entries as the category has levels',
  unpriced: 'a product on sale needs a price above 0, and so do its active SKUs; status 0 keeps it off the shelf',
  not_status: 'must be active or inactive',
  missing: 'needed for a new product',
  not_empty: 'must not be empty',
  no_code: 'a new product without product_id needs one, otherwise a second import would create it again',
  repeated_sku: 'line {line} already has this SKU',
  which_sku: 'the product has several SKUs: identify one by specs or sku_code',
  mixed_specs: 'must name the same specs as the other active SKUs of the product: {names}',
  several_products: 'products {ids} have these codes: add the product_id',
  other_product:
    'product {id} does not have these codes, product {other} has them. If this is the file of another shop, leave product_id empty: products are then found by sku_code',
  removed: 'product {id} was deleted; leave product_id empty to create a new one',
  id_too_high: 'the product does not exist, and its id is too far above the last one ({last})',
  stock_moved:
    'was {before} when the file was written and is {now} now; export again, or empty stock_before to overwrite it',
  refused: 'the database refused it: {reason}',
});
