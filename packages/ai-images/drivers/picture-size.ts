const sidesOf = (size: string): [number, number] => {
  const [width = 1, height = 1] = size.split('x').map(Number);
  return [width, height];
};

/**
 * The size of the list that is nearest to the requested one: first by the ratio of its sides, then by its area. The list `any`
 * has every size.
 */
export function nearestSize(sizes: readonly string[], width: number, height: number): string {
  const asked = `${width}x${height}`;
  if (sizes.includes('any') || sizes.includes(asked) || sizes.length === 0) return asked;
  const distance = (size: string): [number, number] => {
    const [w, h] = sidesOf(size);
    return [Math.abs(Math.log(w / h / (width / height))), Math.abs(Math.log((w * h) / (width * height)))];
  };
  return sizes.toSorted((a, b) => {
    const [ratioA, areaA] = distance(a);
    const [ratioB, areaB] = distance(b);
    return Math.abs(ratioA - ratioB) > 1e-6 ? ratioA - ratioB : areaA - areaB;
  })[0]!;
}
