/** Why a Redis cannot be used: it is not there, or refuses the account. `variable` names the setting with its address. */
export function redisFault(variable: string, url: string, error: unknown): string {
  const { host } = new URL(url);
  const reason = error instanceof Error ? error.message : String(error);
  return /^(WRONGPASS|NOAUTH|NOPERM)\b/.test(reason)
    ? `Redis at ${host} refuses the user or the password in ${variable}: ${reason}`
    : `Redis does not answer at ${host} (${variable}): ${reason}`;
}
