import { csvFaults } from '@tradepost/csv';

/** Texts of the faults in a file of orders. A command shows them, so they are in English only. */
export const { fault: orderFault, fileError: orderFileError } = csvFaults({
  order_no: 'must be 1 to 64 of A-Z a-z 0-9 . _ / -',
  future_number:
    'an order of this shop could get this number later: 19 digits that begin with a time in the future. Use another form',
  unfinished: 'only finished orders are imported: 4 completed, 6 cancelled or refunded',
  needed: 'needed',
  not_time: 'must be a time such as 2019-03-01T09:30:00+08:00; without an offset it is in the zone of the shop',
  future: 'is in the future',
  before_created: 'is before created_at',
  not_amount: 'must be an amount such as 12.90, with at most two decimals and at most 99999999.99',
  not_quantity: 'must be a whole number from 1 to 1000000',
  too_long: 'longer than {max} characters',
  unstorable: 'must not contain NUL or broken Unicode',
  differs: 'line {line} has another value for the same order',
  sum: 'is {given}, the lines of the order add up to {sum}',
  total: 'is {given}; goods, less discount, and freight are {sum}',
  above_price: 'is more than price and quantity, and the order has no freight',
  some_payable: 'is on other lines of the order: fill it in on all of them, or on none',
  too_many_lines: 'the order has more than {max} lines',
  repeated: 'line {line} already has this order; its lines must follow each other',
  stored: 'the shop has this order with another value: {stored}',
  stored_lines: 'the shop has this order with {stored} lines, the file has {given}',
  broken: 'a line of the order cannot be read',
  changed: 'the file has changed since it was checked',
});
