/** Characters of the name of a person or a bank. */
export const maxName = 100;
/** Characters of an identity card number or a bank account. */
export const maxNumber = 64;
export const maxPhone = 32;
/** Characters of the reason of a rejection. */
export const maxReason = 500;
/** Withdrawals of one distributor that have not ended. */
export const maxOpenWithdrawals = 50;
/** The moves of a withdrawal: requested, approved, and completed or rejected. */
export const maxHistory = 3;
