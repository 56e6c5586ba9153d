-- A sealed secret is recognised by its whole form, as a JSON string of its own. Before, a text of a person such as
-- `a "sealed: b"` was taken for one, and its replacement was not valid JSON, so the write failed.
create or replace function change_log.recorded(value jsonb, is_secret boolean) returns jsonb
language sql immutable parallel safe as $$
  select case
    when is_secret and value <> 'null' then '"***"'
    when length(shown::text) > 4000 then to_jsonb(left(shown::text, 4000) || ' ...')
    else shown
  end
  from (
    select case
      -- A quote behind a backslash is a part of a string, and does not begin one.
      when value::text like '%"sealed:%'
        then regexp_replace(value::text, '(^|[^\\])"sealed:[0-9]+:[0-9a-f]{8}:[A-Za-z0-9_-]+"', '\1"***"', 'g')::jsonb
      else value
    end as shown
  ) as masked
$$;
