/** One step of the picture: a pixel as it is, or so many pixels like those before. */
export type Step = { kind: 'pixel'; argb: number } | { kind: 'copy'; length: number; from: 'above' | 'left' };

const copyMost = 4096;

/**
 * The picture as literal pixels and copies. Copies come only from the pixel to the left or from the row above: in a
 * drawing of flat shapes almost everything repeats one of the two.
 *
 * @param pixels 32-bit ARGB, row by row
 */
export function backReferences(pixels: Uint32Array, width: number): Step[] {
  const matching = (at: number, distance: number): number => {
    if (at < distance) return 0;
    const end = Math.min(pixels.length, at + copyMost);
    let next = at;
    while (next < end && pixels[next] === pixels[next - distance]) next += 1;
    return next - at;
  };
  const steps: Step[] = [];
  for (let at = 0; at < pixels.length; ) {
    const above = matching(at, width);
    const left = matching(at, 1);
    const length = Math.max(above, left);
    if (length < 2) {
      steps.push({ kind: 'pixel', argb: pixels[at] ?? 0 });
      at += 1;
    } else {
      steps.push({ kind: 'copy', length, from: above >= left ? 'above' : 'left' });
      at += length;
    }
  }
  return steps;
}
