import type { Receipt } from '../../receipt/receipt.ts';

type Tried = Receipt['candidates'][number];

/** Marks what no other candidate beats in both size and loss, and what was chosen; the smallest first. */
export function withFront(tried: readonly Tried[], chosen: string): Tried[] {
  const lossOf = ({ loss }: Tried): number => loss ?? Number.POSITIVE_INFINITY;
  const beats = (a: Tried, b: Tried): boolean =>
    a.file_bytes <= b.file_bytes &&
    lossOf(a) <= lossOf(b) &&
    (a.file_bytes < b.file_bytes || lossOf(a) < lossOf(b));
  return tried
    .map((one) => ({
      ...one,
      is_on_front: one.loss !== null && !tried.some((other) => beats(other, one)),
      is_chosen: one.name === chosen,
    }))
    .sort((a, b) => a.file_bytes - b.file_bytes);
}
