import { channel } from 'node:diagnostics_channel';
import type { AppError } from '@tradepost/core';
import type { Route } from './route.ts';

export type UnnamedRefusal = { readonly route: Route; readonly refusal: AppError };

/**
 * Refusals that a handler threw and its route does not name, each as an `UnnamedRefusal`. The test suite subscribes and
 * fails. In production the channel has no subscriber, and nothing is compared or published.
 */
export const unnamedRefusals = channel('tradepost:http:unnamed_refusal');
