-- Whoever changes what an account may do, also by SQL, ends its tokens: every process reads the floors again within seconds.
create function identity.end_tokens() returns trigger language plpgsql as $$
begin
  insert into identity.token_floors as f (role, account_id, generation, raised_at)
  values (tg_argv[0], new.id, nextval('identity.token_generation'), clock_timestamp())
  on conflict (role, account_id) do update
    set generation = nextval('identity.token_generation'), raised_at = clock_timestamp();
  return null;
end
$$;
create trigger end_tokens after update on identity.shoppers for each row
  when (old.status is distinct from new.status or old.password_hash is distinct from new.password_hash)
  execute function identity.end_tokens('user');
create trigger end_tokens after update on identity.staff for each row
  when (old.status is distinct from new.status or old.password_hash is distinct from new.password_hash
        or old.role_id is distinct from new.role_id)
  execute function identity.end_tokens('admin');
