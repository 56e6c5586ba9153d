/** The most bytes of an answer of a carrier service. A larger answer counts as none. */
export const maxAnswerBytes = 256 * 1024;
/** The most events of one answer that are kept: the newest. */
export const maxNodesPerAnswer = 200;
/** The most characters of an event as the carrier sent it. A larger one is stored without its original. */
export const maxPayloadCharacters = 4_000;
/** The most events that one shipment keeps. A service that changes its texts with each answer can not fill the table. */
export const maxNodesPerShipment = 500;
/** The most events of an answer of the API, newest first. */
export const maxTracks = 200;
/** The most shipments of one command or job. */
export const maxSyncedAtOnce = 1_000;
