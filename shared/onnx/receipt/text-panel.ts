import { colours, labelSize, nameSize } from '../../drawing/drawing-style.ts';
import { drawable, fitted, textWidth } from '../../drawing/drawn-text.ts';
import { textAt } from '../../drawing/svg-parts.ts';
import type { DrawnPanel } from './bar-panel.ts';

/** Wrap text to a width in pixels, at word boundaries if possible. Return at most `maxLines` lines. */
export function wrapped(text: string, width: number, maxLines: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of drawable(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (textWidth(longer, labelSize) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    if (lines.length >= maxLines) break;
  }
  lines.push(line);
  return lines.slice(0, maxLines).map((one, index, all) => {
    const isCut = index === all.length - 1 && lines.length > maxLines;
    return fitted(isCut ? `${one} …` : one, width, labelSize);
  });
}

const padding = 14;

const lineHeight = 16;

/** Draw paragraphs under a title. */
export function drawTexts(
  title: string,
  texts: readonly string[],
  width: number,
  colour: string = colours.faintText,
): DrawnPanel {
  const room = width - 2 * padding - 12;
  const parts = [textAt(title, padding, padding + 12, { size: nameSize, colour: colours.text, bold: true })];
  let y = padding + 34;
  for (const text of texts) {
    for (const [index, line] of wrapped(text, room, 4).entries()) {
      if (index === 0) parts.push(textAt('•', padding, y, { colour }));
      parts.push(textAt(line, padding + 12, y, { colour }));
      y += lineHeight;
    }
  }
  return { svg: parts.join('\n'), height: y - lineHeight + padding };
}
