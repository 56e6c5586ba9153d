-- The path of an endpoint's URL can be a password of its receiver. The change log shows the host, and that the URL has changed.
alter table webhooks.endpoints
  add column host text not null generated always as (coalesce(substring(url from '^[a-z]+://([^/?#]+)'), '')) stored;
select change_log.watch('webhooks.endpoints', array['failing_since', 'last_success_at'],
  array['url', 'secret_sealed', 'previous_secret_sealed']);
