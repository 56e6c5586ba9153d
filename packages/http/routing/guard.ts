import { httpErrors } from './errors.ts';
import type { Auth, Caller } from './route.ts';

/**
 * Returns the caller of a token, or null when the token is not valid. A token that was seen before is answered
 * synchronously.
 */
export type Authenticate = (token: string) => Caller | null | Promise<Caller | null>;

type Guarded = { readonly auth: Auth; readonly permission?: string };

/**
 * The token of `Authorization: Bearer <token>`, or null. A client that has logged out may send an empty token: that is
 * null too.
 */
export function bearerOf(request: Request): string | null {
  const header = request.headers.get('authorization');
  if (!header || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  return header.slice(7).trim() || null;
}

/**
 * Returns the caller for a route or channel, by its `auth` and `permission`. Throws the refusal when the caller has no
 * access.
 */
export function admit(route: Guarded, token: string | null, caller: Caller | null): Caller | null {
  switch (route.auth) {
    case 'public':
      return null;
    case 'optional':
      return caller?.role === 'user' ? caller : null;
    default: {
      if (!caller) throw token ? httpErrors.invalid_token() : httpErrors.not_logged_in();
      const wanted = route.auth === 'shopper' ? 'user' : route.auth === 'staff' ? 'admin' : caller.role;
      if (caller.role !== wanted) throw httpErrors.wrong_account_kind();
      const { permission } = route;
      if (permission && !caller.perms.includes(permission) && !caller.perms.includes('*'))
        throw httpErrors.missing_permission({ permission });
      return caller;
    }
  }
}
