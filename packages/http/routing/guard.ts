import { httpErrors } from './errors.ts';
import type { Auth, Caller } from './route.ts';

/** The caller of a token, or null when it is not valid (any more). Answers at once for a token it has seen. */
export type Authenticate = (token: string) => Caller | null | Promise<Caller | null>;

type Guarded = { readonly auth: Auth; readonly permission?: string };

/** The token of `Authorization: Bearer <token>`; an empty one (a logged-out client sends it) is none. */
export function bearerOf(request: Request): string | null {
  const header = request.headers.get('authorization');
  if (!header || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  return header.slice(7).trim() || null;
}

/** The caller that a route or channel works for, by its `auth` and `permission`; throws the refusal where it must not work. */
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
