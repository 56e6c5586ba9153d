export const maxModels = 100;
/** Characters of the name of a model, of an address, and of a key. */
export const maxName = 100;
export const maxAddress = 1_000;
export const maxKey = 2_000;
/** Sizes and options that a model lists. */
export const maxSizes = 30;
export const maxOptions = 30;

/** Characters of a prompt and of a negative prompt. Most services take fewer, and refuse the rest. */
export const maxPrompt = 4_000;
export const maxNegativePrompt = 2_000;
/** Pictures of one task. */
export const maxPictures = 10;
/** Tasks on a page of the list. */
export const maxTaskPage = 1_000;
export const minSide = 64;
export const maxSide = 4_096;

/** Bytes of an answer of a service. Pictures inside it are base64, so an answer holds 24 MB of them. */
export const maxAnswerBytes = 32 * 1024 * 1024;
/** Bytes of a reference image. */
export const maxRefImageBytes = 10 * 1024 * 1024;
/** Tasks that one process works on at once: each may hold an answer and its pictures in memory. */
export const maxTasksPerProcess = 2;
/** Characters of a reason that a service gives. */
export const maxReason = 300;
/** The longest time that a service may ask to wait before the next attempt. */
export const maxRetryAfterMs = 120_000;
