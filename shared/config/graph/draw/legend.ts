import { escapeXml, textWidth } from '../../../drawing/drawn-text.ts';
import { colours, type NodeStyle } from './drawn-style.ts';
import { detailSize } from './node-card.ts';

const above = 22;

const rowHeight = 22;

/** Build a legend of colours and their names below a drawing. Return nothing if all nodes have one style. */
export function legendOf(
  styles: readonly NodeStyle[],
  maxWidth: number,
): { svg: string; width: number; height: number } {
  const sorts = [...new Map(styles.map((style) => [style.name, style])).values()];
  if (sorts.length < 2) return { svg: '', width: 0, height: 0 };
  let [x, y, width] = [0, above, 0];
  const items = sorts.map(({ name, fill, stroke }) => {
    const nameWidth = textWidth(name, detailSize);
    if (x > 0 && x + 20 + nameWidth > maxWidth) [x, y] = [0, y + rowHeight];
    const swatch = `<rect x="${x.toFixed(1)}" y="${y}" width="14" height="14" rx="3" fill="${fill}" stroke="${stroke}"/>`;
    const text = `<text x="${(x + 20).toFixed(1)}" y="${y + 11}" font-size="${detailSize}" fill="${colours.faintText}">${escapeXml(name)}</text>`;
    width = Math.max(width, x + 20 + nameWidth);
    x += 20 + nameWidth + 16;
    return swatch + text;
  });
  return { svg: items.join(''), width, height: y + rowHeight };
}
