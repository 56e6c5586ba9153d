/** Other texts are no phone number, such as the phone of a deleted account. */
export const isPhone = (text: string): boolean => /^\+?[0-9][0-9 -]{4,30}$/.test(text);

/** Removes blanks, dashes and the prefix of China, so that one receiver has one number. */
export const plainPhone = (phone: string): string =>
  phone.replaceAll(/[ -]/g, '').replace(/^(?:\+|00)?86(?=1\d{10}$)/, '');

/** Masks the middle of a phone number: 138****0001. Shorter texts are masked completely. */
export const maskPhone = (phone: string): string =>
  phone.length < 9 ? '****' : `${phone.slice(0, 3)}****${phone.slice(-4)}`;
