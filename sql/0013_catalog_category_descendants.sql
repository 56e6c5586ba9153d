-- Which categories lie below which, so that a list by category finds the products of the whole branch by index.

-- One row per category and each category above it, and one of the category with itself.
create table catalog.category_descendants (
  ancestor_id bigint not null,
  category_id bigint not null,
  primary key (ancestor_id, category_id)
);
create index category_descendants_by_category on catalog.category_descendants (category_id);

-- Writes the rows of these categories and of all below them anew. `union` ends the walks in a circle.
create function catalog.place_categories(ids bigint[]) returns void language plpgsql as $$
declare
  moved bigint[];
begin
  with recursive below as (
    select unnest(ids) as id
    union
    select c.id from below join catalog.categories c on c.parent_id = below.id
  )
  select array_agg(id) into moved from below;
  delete from catalog.category_descendants where category_id = any(moved);
  insert into catalog.category_descendants (ancestor_id, category_id)
  with recursive above as (
    select c.id as category_id, c.id as ancestor_id, c.parent_id from catalog.categories c where c.id = any(moved)
    union
    select above.category_id, c.id, c.parent_id from above join catalog.categories c on c.id = above.parent_id
  )
  select ancestor_id, category_id from above;
end
$$;

create function catalog.place_new_categories() returns trigger language plpgsql as $$
begin
  perform catalog.place_categories(array(select id from added));
  return null;
end
$$;
create function catalog.place_moved_categories() returns trigger language plpgsql as $$
declare
  moved bigint[] := array(
    select a.id from after_move a left join before_move b using (id) where b.parent_id is distinct from a.parent_id
    union
    -- an id that was changed itself
    select b.id from before_move b where not exists (select from after_move a where a.id = b.id));
begin
  if moved <> '{}' then perform catalog.place_categories(moved); end if;
  return null;
end
$$;
create function catalog.place_removed_categories() returns trigger language plpgsql as $$
begin
  perform catalog.place_categories(array(select id from removed));
  return null;
end
$$;
create trigger place_new after insert on catalog.categories
  referencing new table as added for each statement execute function catalog.place_new_categories();
create trigger place_moved after update on catalog.categories
  referencing old table as before_move new table as after_move
  for each statement execute function catalog.place_moved_categories();
create trigger place_removed after delete on catalog.categories
  referencing old table as removed for each statement execute function catalog.place_removed_categories();

select catalog.place_categories(array(select id from catalog.categories));

-- A page of a branch takes a page of each of its categories, in the order of the list; totals are counted in the index.
create index products_on_shelf_by_category on catalog.products (category_id, sort desc, id desc) where status = 1;
create index products_kept_by_category on catalog.products (category_id, sort desc, id desc) where deleted_at is null;
drop index catalog.products_by_category;
drop index catalog.products_in_category;
