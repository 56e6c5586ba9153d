/** Why a URL is not a target: no URL of http or https, a user or password in it, an address that is not allowed, or no such host. */
export type TargetProblem = 'not_http' | 'has_credentials' | 'private_address' | 'unknown_host';

/** Parses the URL of a target. Its host is not resolved. */
export function parseTarget(text: string): URL | TargetProblem {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'not_http';
  if (url.username !== '' || url.password !== '') return 'has_credentials';
  return url;
}
