export async function boot(): Promise<never[]> { return []; }
