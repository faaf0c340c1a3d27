import type { Receipt } from '../../api/models.ts';

/** Value of a receipt before or after its compression. */
type Side = 'before' | 'after';

const accuracyOf = ({ accuracy }: Receipt, side: Side): number | undefined => accuracy?.[side];

/**
 * Return the agreement between the outputs and those of the compressed model. It replaces accuracy if there are no
 * labels.
 */
function likenessOf({ outputs }: Receipt, side: Side): number | undefined {
  const errors = outputs.flatMap(({ relative_l2_error }) =>
    relative_l2_error === null ? [] : [relative_l2_error],
  );
  if (errors.length === 0) return undefined;
  return side === 'before' ? 1 : 1 - Math.min(1, Math.max(...errors));
}

/** Measure of quality that all versions of a family have. */
export interface Quality {
  name: string;
  isAccuracy: boolean;
  of: (receipt: Receipt, side: Side) => number | undefined;
}

/** Choose the measure of a family: accuracy if compressions of the model itself have it, else likeness. */
export function qualityOf(family: readonly { receipt: Receipt | null; isOwn: boolean }[]): Quality {
  const isAccuracy = family.some(({ receipt, isOwn }) => isOwn && receipt?.accuracy != null);
  return isAccuracy
    ? { name: 'Accuracy', isAccuracy, of: accuracyOf }
    : { name: 'Likeness of the outputs', isAccuracy, of: likenessOf };
}
