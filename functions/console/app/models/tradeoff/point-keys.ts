/** Position of a point of the plot. */
interface Placed {
  id: string;
  x: number;
  y: number;
}

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/**
 * Return the point that a key chooses: an arrow the next one by size (or time), Home and End the outermost ones.
 * Undefined for other keys.
 */
export function pointAfterKey<P extends Placed>(
  points: readonly P[],
  id: string,
  key: string,
): P | undefined {
  const inOrder = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  if (key === 'Home') return inOrder[0];
  if (key === 'End') return inOrder.at(-1);
  const step = steps[key];
  if (step === undefined) return undefined;
  // An id outside the plot is before the first point.
  const at = inOrder.findIndex((point) => point.id === id);
  return inOrder[Math.min(Math.max(at + step, 0), inOrder.length - 1)];
}
