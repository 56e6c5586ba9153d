/** The largest number of images of an application, a message or an evidence. */
export const maxImages = 9;
/** The largest number of lines of an application. An order has at most 200 lines. */
export const maxCaseLines = 200;
/** The largest number of messages that each side of a case writes: one side cannot leave the other without an answer. */
export const maxMessagesPerSide = 100;
/** The largest number of evidences of a case. */
export const maxEvidences = 20;
/** More than the longest chain of a case has entries. */
export const maxLogs = 16;
/** The largest page of a shopper's own cases. */
export const maxCasePage = 50;
/** More than the shipments of a case, which are one return shipment and one re-shipment. */
export const maxCaseShipments = 10;
