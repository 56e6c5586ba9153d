/** The largest number of addresses of one shopper, of roles, and of administrators. One more is refused. */
export const maxAddresses = 50;
export const maxRoles = 200;
export const maxStaff = 1_000;
/** The largest number of permission codes of a role. */
export const maxPermissions = 500;
