-- Shops that the demo seed filled before it recorded that: their administrator is marked, and nothing else marks one.
insert into runtime.settings (key, value)
select 'shop.demo', 'true' where exists (select from identity.staff where is_demo)
on conflict (key) do nothing;
