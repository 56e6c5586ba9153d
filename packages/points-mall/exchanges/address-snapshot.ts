import type { Address } from '@tradepost/identity';
import { mallErrors } from '../errors.ts';

/** A delivery address as it was at the exchange. `detail` repeats `address` under the name that orders use. */
export type AddressSnapshot = {
  name: string;
  phone: string;
  province: string;
  city: string;
  district: string;
  address: string;
  detail: string;
};

export const snapshotOf = ({ name, phone, province, city, district, detail }: Address): AddressSnapshot => ({
  ...{ name, phone, province, city, district },
  address: detail,
  detail,
});

type SentAddress = { [K in keyof AddressSnapshot]?: string | undefined };

/** The address that a client sent. Null when it sent none. Refuses one without a name, a phone or a street. */
export function sentAddress(sent: SentAddress | null | undefined): AddressSnapshot | null {
  if (!sent) return null;
  const { name = '', phone = '', province = '', city = '', district = '' } = sent;
  const address = sent.address || sent.detail || '';
  if ([name, phone, province, city, district, address].every((part) => part === '')) return null;
  if (name === '' || phone === '' || address === '') throw mallErrors.address_incomplete();
  return { name, phone, province, city, district, address, detail: address };
}
