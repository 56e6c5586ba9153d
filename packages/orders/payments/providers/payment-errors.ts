import { orderErrors } from '../../errors.ts';

/** The refusals that payment providers of other packages throw. */
export const paymentErrors = {
  provider_not_ready: orderErrors.provider_not_ready,
  currency_unsupported: orderErrors.currency_unsupported,
  pay_param: orderErrors.pay_param,
  provider_refused: orderErrors.provider_refused,
  provider_away: orderErrors.provider_away,
  signature_invalid: orderErrors.signature_invalid,
  signature_expired: orderErrors.signature_expired,
};
