export const backofficeSettings = [] as const;
