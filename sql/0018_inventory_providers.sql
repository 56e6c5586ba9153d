-- Modules add inventory providers, so their names are not known here. The start of the shop checks them.
alter table inventory.provider_state drop constraint provider_state_provider_check;
