-- Sealed secrets are encrypted, and still no business of the change log: they are recorded as ***, also inside of JSON.
create or replace function change_log.recorded(value jsonb, is_secret boolean) returns jsonb
language sql immutable parallel safe as $$
  select case
    when is_secret and value <> 'null' then '"***"'
    when length(shown::text) > 4000 then to_jsonb(left(shown::text, 4000) || ' ...')
    else shown
  end
  from (
    select case
      when value::text like '%"sealed:%' then regexp_replace(value::text, '"sealed:[^"]*"', '"***"', 'g')::jsonb
      else value
    end as shown
  ) as masked
$$;

-- The texts of a page are cut like other long values; the publications keep them whole.
select change_log.watch('content.decor_variants');
select change_log.watch('backoffice.announcements');
-- That staff have opened a message is no change of the shop.
select change_log.watch('message_centre.messages', array['read_at', 'staff_read_at', 'facts']);
select change_log.watch('ai_images.models', '{}', array['api_key_sealed']);
select change_log.watch('ai_images.tasks');
select change_log.watch('webhooks.endpoints', array['failing_since', 'last_success_at'],
  array['secret_sealed', 'previous_secret_sealed']);
-- Administrators replay deliveries; their bodies are those of the events.
select change_log.watch('webhooks.deliveries', array['body']);
