/** A point of a plot in pixels, with its label. */
export interface Labelled {
  x: number;
  y: number;
  /** Radius of its mark. */
  radius: number;
  text: string;
}

export interface PlacedLabel {
  x: number;
  /** Base line of the text. */
  y: number;
  anchor: 'start' | 'middle' | 'end';
  /** Whether the label is far from its point and needs a leader line. */
  isLed: boolean;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Letter width of 12-pixel text in the widest of common system fonts. */
const letterWidth = 7.8;
const ascent = 12;
const descent = 4;
const gap = 7;

export const labelBox = ({ x, y, anchor }: PlacedLabel, text: string): Box => {
  const width = text.length * letterWidth;
  const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2;
  return { left, right: left + width, top: y - ascent, bottom: y + descent };
};

const meet = (box: Box, other: Box): boolean =>
  box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;

const boxOf = ({ x, y, radius }: Labelled): Box => ({
  left: x - radius,
  right: x + radius,
  top: y - radius,
  bottom: y + radius,
});

/** Yield positions for a label, the best first: next to its point, above, below, then further away. */
function* placesFor({ x, y, radius }: Labelled): Generator<PlacedLabel> {
  const beside = radius + gap;
  yield { x: x + beside, y: y + 4, anchor: 'start', isLed: false };
  yield { x: x - beside, y: y + 4, anchor: 'end', isLed: false };
  yield { x, y: y - beside, anchor: 'middle', isLed: false };
  yield { x, y: y + beside + ascent, anchor: 'middle', isLed: false };
  for (let away = 1; away <= 8; away += 1)
    for (const down of [away * 17, -away * 17]) {
      yield { x: x + beside + 6, y: y + 4 + down, anchor: 'start', isLed: true };
      yield { x: x - beside - 6, y: y + 4 + down, anchor: 'end', isLed: true };
    }
}

/** Place a label for each point without covering other labels or points; undefined if there is no room. */
export function placeLabels(
  points: readonly Labelled[],
  room: { left: number; right: number; top: number; bottom: number },
): (PlacedLabel | undefined)[] {
  const taken = points.map(boxOf);
  return points.map((point) => {
    for (const place of placesFor(point)) {
      const box = labelBox(place, point.text);
      const isInside =
        box.left >= room.left && box.right <= room.right && box.top >= room.top && box.bottom <= room.bottom;
      if (!isInside || taken.some((other) => meet(box, other))) continue;
      taken.push(box);
      return place;
    }
    return undefined;
  });
}

/** Compute the radii of marks. Points at the same position become nested rings, so each stays visible. */
export function radiiOf(points: readonly { x: number; y: number }[]): number[] {
  const radii: number[] = [];
  for (const [index, { x, y }] of points.entries()) {
    const below = points
      .slice(0, index)
      .map((point, at) => (Math.hypot(point.x - x, point.y - y) < 11 ? (radii[at] ?? 0) : 0));
    radii.push(Math.max(1.5, ...below) + 4.5);
  }
  return radii;
}
