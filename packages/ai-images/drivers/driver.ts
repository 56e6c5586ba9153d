import { defineRegistry } from '@tradepost/module';
import type { FailureName } from '../errors.ts';

export const pictureStyles = ['ecommerce', 'realistic', 'illustration'] as const;
export type PictureStyle = (typeof pictureStyles)[number];

/** What a task asks a service for. */
export type PictureRequest = {
  readonly prompt: string;
  readonly negPrompt: string;
  readonly width: number;
  readonly height: number;
  readonly count: number;
  readonly style: PictureStyle | null;
  readonly refImage: { readonly bytes: Buffer; readonly mime: string } | null;
};

/** A model as a driver needs it. */
export type ServiceModel = {
  readonly endpoint: string;
  readonly apiKey: string;
  /** The name of the model at the service. Empty for the default of the driver. */
  readonly model: string;
  /** The sizes that the model draws, such as `1024x1024`; empty for the default of the driver, `any` for all. */
  readonly sizes: readonly string[];
  readonly picturesPerRequest: number | null;
  readonly responseFormat: 'b64_json' | 'url' | null;
  /** Further fields of the request. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
};

export type ServiceIo = {
  readonly fetch: typeof globalThis.fetch;
  /** Aborted at the end of the attempt. */
  readonly signal: AbortSignal;
  /** The first pause between two questions for the end of a task at the service. */
  readonly pauseMs?: number;
};

/** A picture of an answer: its bytes, or where they are. */
export type ServicePicture = { readonly bytes: Buffer } | { readonly url: string };

/** The code that speaks the protocol of one image service. */
export type ImageDriver = {
  readonly name: string;
  /** The endpoint of a model that names none. */
  readonly endpoint: string;
  /** The model of a model row that names none. */
  readonly model: string;
  /** Throws ServiceError. Its messages may contain the key: the caller removes it. */
  generate(model: ServiceModel, request: PictureRequest, io: ServiceIo): Promise<readonly ServicePicture[]>;
};

export const imageDrivers = defineRegistry<ImageDriver>('ai_images.drivers', { isStatic: true });

/** An attempt failed. `permanent`: another attempt would fail in the same way. */
export class ServiceError extends Error {
  readonly failure: FailureName;
  readonly permanent: boolean;
  readonly retryAfterMs: number;
  constructor(failure: FailureName, reason: string, options: { permanent: boolean; retryAfterMs?: number }) {
    super(reason);
    this.name = 'ServiceError';
    this.failure = failure;
    this.permanent = options.permanent;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}
