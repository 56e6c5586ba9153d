import { channel } from 'node:diagnostics_channel';
import type { AppError } from '@tradepost/core';
import type { Route } from './route.ts';

export type UnnamedRefusal = { readonly route: Route; readonly refusal: AppError };

/**
 * Publishes each refusal that a handler threw and its route does not name, as an `UnnamedRefusal`. The test suite
 * subscribes and fails the test. In production the channel has no subscriber, and no comparison is made.
 */
export const unnamedRefusals = channel('tradepost:http:unnamed_refusal');
