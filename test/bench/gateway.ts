import type { Section } from './report.ts';
export async function gateway(): Promise<Section[]> {
  return [];
}
