/** Most rows that a caller can make of each kind; a further one is refused by name. */
export const maxAddresses = 50;
export const maxRoles = 200;
export const maxStaff = 1_000;
/** Permission codes of a role. */
export const maxPermissions = 500;
