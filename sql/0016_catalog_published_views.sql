-- What the SQL of other packages may use of the catalogue. Simple views: PostgreSQL plans a statement on them as on their table.

-- The package that owns the stock locks these rows and writes stock, reserved_stock and sold; the other columns are for reading.
create view catalog.sku_stock as
  select id, product_id, sku_code, attrs, status, stock, reserved_stock, sold from catalog.product_skus;

create view catalog.product_names as
  select id, title, translations from catalog.products;
