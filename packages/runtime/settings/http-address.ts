/**
 * Whether a text is an http or https address without a user and a password. Addresses are shown where settings are: in the console,
 * in logs and histories. A password belongs into a secret setting.
 */
export function isHttpAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
