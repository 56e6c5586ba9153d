/** Lines of a cart, and of an order. */
export const maxLines = 200;
/** Notes of an order: a page of the back office carries those of a thousand orders. */
export const maxNotes = 50;
/** Parcels of an order. */
export const maxShipments = 50;
/** Reminders of an order that are shown, the newest. */
export const maxReminders = 100;
/** Orders on one page of a shopper. */
export const maxOrderPage = 50;
