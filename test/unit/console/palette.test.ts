import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { darkColours, lightColours } from '../../../shared/drawing/page-palette.ts';

/** Relative luminance of WCAG 2.2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

/** The colours of lines, as the style sheet of the console has them: light first, then dark. */
function lineColours(): [string[], string[]] {
  const style = readFileSync(
    join(import.meta.dirname, '../../../functions/console/app/style/base.css'),
    'utf8',
  );
  const found = [...style.matchAll(/--line-\d+: (#[0-9a-f]{6});/g)].map(([, colour = '']) => colour);
  return [found.slice(0, found.length / 2), found.slice(found.length / 2)];
}

const schemes = [
  ['light', lightColours, lineColours()[0]],
  ['dark', darkColours, lineColours()[1]],
] as const;

test.each(schemes)('every text of the %s colours is read on every ground', (_, colours) => {
  for (const text of ['text', 'soft', 'accent', 'good', 'warn', 'bad', 'special'] as const) {
    for (const ground of ['page', 'panel', 'code', 'mark'] as const)
      expect(contrast(colours[text], colours[ground]), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  }
  expect(contrast(colours.edge, colours.page), 'edges of controls').toBeGreaterThanOrEqual(3);
});

test.each(schemes)('every line of the %s colours is seen on the page', (_, colours, lines) => {
  expect(lines).toHaveLength(10);
  for (const line of lines) expect(contrast(line, colours.page), line).toBeGreaterThanOrEqual(3);
});
