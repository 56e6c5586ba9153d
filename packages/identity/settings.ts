export const identitySettings = [] as const;
