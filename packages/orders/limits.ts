/** The largest number of lines of a cart or an order. */
export const maxLines = 200;
/** The largest number of notes of an order. A page of the back office has the notes of up to 1,000 orders. */
export const maxNotes = 50;
/** The largest number of shipments of an order. */
export const maxShipments = 50;
/** The largest number of images of a review, and of additions to it, in the answer of an order. */
export const maxReviewImages = 50;
export const maxReviewAppends = 20;
/** The number of reminders of an order that are listed, newest first. */
export const maxReminders = 100;
/** The largest page of a shopper's own orders. */
export const maxOrderPage = 50;
