-- What the SQL of other packages may use of shoppers: for reading. PostgreSQL plans a statement on it as on its table.
create view identity.shopper_names as
  select id, nickname, avatar from identity.shoppers;
