interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Draw a curve from the right side of a branch to the left side of its child. */
export function branchCurve(from: Box, to: Box): string {
  const [x1, y1, x2, y2] = [
    from.left + from.width,
    from.top + from.height / 2,
    to.left,
    to.top + to.height / 2,
  ];
  const turn = Math.max((x2 - x1) / 2, 12);
  return bezier(x1, y1, x1 + turn, y1, x2 - turn, y2, x2, y2);
}

function bezier(...points: [number, number, number, number, number, number, number, number]): string {
  const [x1, y1, cx1, cy1, cx2, cy2, x2, y2] = points.map((value) => value.toFixed(1));
  return `M${x1},${y1}C${cx1},${cy1},${cx2},${cy2},${x2},${y2}`;
}

const gap = 40;

/**
 * Draw a curve outside of the tree. Nothing is to the right of a leaf, so the curve ends at its right side. A
 * curve reaches a box with members through the gap between columns. It ends at the box's right side if it comes
 * from further right, otherwise at the left side.
 */
export function referenceCurve(from: Box, to: Box, targetHasMembers: boolean): string {
  if (!targetHasMembers) return asideCurve(from, to).path;
  const [y1, y2] = [from.top + from.height / 2, to.top + to.height / 2];
  const right = to.left + to.width;
  if (right < from.left) return bezier(from.left, y1, from.left - gap, y1, right + gap, y2, right, y2);
  const swing = Math.min(from.left, to.left) - gap;
  return bezier(from.left, y1, swing, y1, swing, y2, to.left, y2);
}

/** Smallest and largest bend to the right of an edge outside of the layout, in pixels. */
const leastSwing = 30;

const mostSwing = 140;

/**
 * Draw a curve from the right side of one box to the right side of another, around the boxes between them. Draw a
 * loop if both are the same box.
 */
export function asideCurve(from: Box, to: Box): { path: string; middle: { x: number; y: number } } {
  const apart = from === to ? from.height / 4 : 0;
  const [x1, y1] = [from.left + from.width, from.top + from.height / 2 - apart];
  const [x2, y2] = [to.left + to.width, to.top + to.height / 2 + apart];
  const swing = Math.max(x1, x2) + Math.min(leastSwing + Math.abs(y2 - y1) / 4, mostSwing);
  const middle = { x: (x1 + 6 * swing + x2) / 8, y: (y1 + y2) / 2 };
  return { path: bezier(x1, y1, swing, y1, swing, y2, x2, y2), middle };
}
