import { cssColour, lineColour, lineDash } from '../../theme/colours.ts';
import { shadeAt, shades } from '../values/shades.ts';

/** Draw a line for each item through its places on the axes: those that are not chosen below, the best on top. */
export function drawLines(
  context: CanvasRenderingContext2D,
  {
    lines,
    items,
    ranks,
    chosen,
    near,
    x,
  }: {
    /** Vertical place of each item on each axis, in pixels. */
    lines: readonly (readonly (number | undefined)[])[];
    items: readonly { style?: number | undefined }[];
    ranks: readonly (number | undefined)[] | undefined;
    chosen: readonly boolean[];
    /** Item at the pointer. */
    near: number | undefined;
    x(axis: number): number;
  },
): void {
  const colours = shades();
  const pale = cssColour('line');
  const stroke = (index: number, colour: string, thickness: number): void => {
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.setLineDash(lineDash(items[index]?.style ?? 0) ?? []);
    context.beginPath();
    let isDown = false;
    for (const [at, place] of (lines[index] ?? []).entries()) {
      if (place === undefined) isDown = false;
      else if (isDown) context.lineTo(x(at), place);
      else {
        context.moveTo(x(at), place);
        isDown = true;
      }
    }
    context.stroke();
  };
  const colourOf = (index: number): string => {
    if (ranks === undefined) return cssColour(lineColour(items[index]?.style ?? 0));
    const rank = ranks[index];
    return rank === undefined ? cssColour('edge') : (colours[shadeAt(rank)] ?? pale);
  };
  const order = [...items.keys()].sort((a, b) => (ranks?.[a] ?? -1) - (ranks?.[b] ?? -1));
  for (const index of order) if (chosen[index] === false) stroke(index, pale, 1);
  context.globalAlpha = items.length > 100 ? 0.7 : 0.9;
  for (const index of order) if (chosen[index] !== false) stroke(index, colourOf(index), 1.6);
  context.globalAlpha = 1;
  if (near !== undefined) stroke(near, cssColour('text'), 3);
}
