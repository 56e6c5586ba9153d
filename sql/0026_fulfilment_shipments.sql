-- The shipments of an after-sale case.
create index shipments_of_case on fulfilment.shipments (after_sale_case_id, id desc) where after_sale_case_id > 0;

-- The orders that a carrier delivered. A parcel that comes back is not a delivery.
drop index fulfilment.shipments_by_company;
create index shipments_by_company on fulfilment.shipments (company, order_id desc) where direction = 'outbound';
