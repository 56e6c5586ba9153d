export async function http(): Promise<never[]> { return []; }
