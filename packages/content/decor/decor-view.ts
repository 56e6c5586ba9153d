import { isoInZone, type Locale, type Localized } from '@tradepost/core';
import { withFileUrls } from '../components/clean-texts.ts';
import { emptyComponents, isPcPage } from '../components/read-components.ts';
import type { VariantRow } from './decor-store.ts';
import type { PublicationRow } from './publication-store.ts';
import { defaultVariant } from './variant-key.ts';

export type ViewContext = {
  zone: string;
  locale: Locale;
  /** The beginning of the addresses of uploaded files, with `/uploads/` at its end. */
  filePrefix: string;
};

const defaultName: Localized = { en: 'Default', 'zh-CN': '默认版本' };
const nameOf = ({ variant_key, variant_name }: { variant_key: string; variant_name: string }, locale: Locale) =>
  variant_name || (variant_key === defaultVariant ? defaultName[locale] : variant_key);

/** Clients cut dates out of times by position, so an unsaved page has times too. The same ones in every answer. */
const never = new Date(0);

/** The page that is shown where nothing is saved. */
export const unsavedVariant = (pageKey: string, variantKey: string): VariantRow => ({
  id: 0,
  merchant_id: 1,
  page_key: pageKey,
  variant_key: variantKey,
  variant_name: '',
  components: emptyComponents(pageKey),
  is_published: false,
  has_changes: false,
  published_at: null,
  created_at: never,
  updated_at: never,
});

/** Most pages have no address of an uploaded file. Reading them is ten times as fast. */
const hasFiles = ({ components }: VariantRow) => components.includes('/uploads/');

const componentsOf = (row: VariantRow, { filePrefix }: ViewContext): unknown => {
  const components = JSON.parse(row.components);
  return hasFiles(row) ? withFileUrls(components, filePrefix) : components;
};

/** A row that a repeated request found has its times as text. */
function fieldsOf(row: VariantRow, { zone, locale }: ViewContext) {
  const time = (at: Date | string) => isoInZone(new Date(at), zone);
  return {
    id: row.id,
    merchant_id: row.merchant_id,
    page_key: row.page_key,
    variant_key: row.variant_key,
    variant_name: nameOf(row, locale),
    is_published: row.is_published,
    published_at: row.published_at && time(row.published_at),
    created_at: time(row.created_at),
    updated_at: time(row.updated_at),
  };
}

/** A page for the storefront: an object for the PC page, otherwise a list. */
export const shopPageView = (row: VariantRow, context: ViewContext) => ({
  ...fieldsOf(row, context),
  components: componentsOf(row, context),
});

/** A variant for the back office, without its content. */
export const variantView = (row: VariantRow, context: ViewContext) => ({
  ...fieldsOf(row, context),
  has_changes: row.has_changes,
});

/** A variant for the editors: an object for the PC page, otherwise JSON text, which the mobile editor parses. */
export function draftView(row: VariantRow, context: ViewContext) {
  const textOf = () => (hasFiles(row) ? JSON.stringify(componentsOf(row, context)) : row.components);
  return {
    ...variantView(row, context),
    components: (isPcPage(row.page_key) ? componentsOf(row, context) : textOf()) as never,
  };
}

export const publicationView = ({ published_at, ...row }: PublicationRow, { zone, locale }: ViewContext) => ({
  ...row,
  variant_name: nameOf(row, locale),
  published_at: isoInZone(published_at, zone),
});
