import type { Sql } from '@tradepost/postgres';
import type { Shop } from '../shop.ts';

export type Id = number | string;

/** A shopper with an address and a token. */
export type TestShopper = { id: number; token: string; address_id: number; username: string };

/** `order`: the state of orders that are made. `large`: orders, lists of ids and pages are long. */
export type MakeOptions = { order: 'unpaid' | 'paid' | 'shipped'; large: boolean };

export type MakerContext = {
  readonly shop: Shop;
  readonly sql: Sql;
  /** The shopper who owns the objects. */
  readonly owner: TestShopper;
  /** The token of an administrator with all permissions. */
  readonly staff: string;
  /** Sends a request and answers its data. Throws when the request is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the route
  send(method: string, path: string, token: string | undefined, body?: unknown): Promise<any>;
  /** Makes `count` objects at the same time. */
  repeat<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]>;
  /** A new number: no other call of this context gets it. */
  nextNumber(): number;
  /** Makes objects of another kind. */
  make(kind: string, count: number, options?: MakeOptions): Promise<Id[]>;
};

/** Makes `count` objects and answers their ids. */
export type Maker = (context: MakerContext, count: number, options: MakeOptions) => Promise<Id[]>;

/** The length of the lists in a large request. */
export const many = 50;
