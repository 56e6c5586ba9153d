export const catalogSettings = [] as const;
