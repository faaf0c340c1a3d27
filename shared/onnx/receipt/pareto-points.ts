/** Size or time of a model, and its quality. */
interface Measured {
  x: number;
  y: number;
}

/**
 * Return the points that no other point beats: none is as small and better, or as good and smaller. Smallest first.
 */
export function paretoPoints<P extends Measured>(points: readonly P[]): P[] {
  const front: P[] = [];
  for (const point of [...points].sort((a, b) => a.x - b.x || b.y - a.y))
    if (point.y > (front.at(-1)?.y ?? Number.NEGATIVE_INFINITY)) front.push(point);
  return front;
}
