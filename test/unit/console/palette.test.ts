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
  expect(lines).toHaveLength(5);
  for (const line of lines) expect(contrast(line, colours.page), line).toBeGreaterThanOrEqual(3);
});

/** What people see who lack a cone, by the matrices for linear RGB of Machado, Oliveira and Fernandes (2009). */
const visions = {
  'without red cones': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'without green cones': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
} as const;

type Triple = [number, number, number];

/** A colour in CIELAB, for white of D65. */
function labOf(colour: string, vision: readonly (readonly number[])[]): Triple {
  const linear = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const times = (rows: readonly (readonly number[])[], by: readonly number[]): number[] =>
    rows.map((row) => row.reduce((sum, factor, at) => sum + factor * (by[at] ?? 0), 0));
  const seen = times(vision, linear).map((part) => Math.min(1, Math.max(0, part)));
  const toXyz = [
    [0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047],
    [0.2126729, 0.7151522, 0.072175],
    [0.0193339 / 1.08883, 0.119192 / 1.08883, 0.9503041 / 1.08883],
  ];
  const [x = 0, y = 0, z = 0] = times(toXyz, seen).map((part) =>
    part > 216 / 24_389 ? Math.cbrt(part) : ((24_389 / 27) * part + 16) / 116,
  );
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Difference of two colours by CIEDE2000 (Sharma, Wu and Dalal 2005). */
function difference([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const chroma = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7)));
  const [p1, p2] = [(1 + g) * a1, (1 + g) * a2];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const hue = (a: number, b: number): number => ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360;
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)];
  const turn = h2 - h1 > 180 ? h2 - h1 - 360 : h2 - h1 < -180 ? h2 - h1 + 360 : h2 - h1;
  const [dl, dc] = [l2 - l1, c2 - c1];
  const dh = 2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2));
  const [lm, cm] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const sum = h1 + h2;
  const hm = Math.abs(h1 - h2) <= 180 ? sum / 2 : sum < 360 ? (sum + 360) / 2 : (sum - 360) / 2;
  const t =
    1 -
    0.17 * Math.cos(radians(hm - 30)) +
    0.24 * Math.cos(radians(2 * hm)) +
    0.32 * Math.cos(radians(3 * hm + 6)) -
    0.2 * Math.cos(radians(4 * hm - 63));
  const sl = 1 + (0.015 * (lm - 50) ** 2) / Math.sqrt(20 + (lm - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * cm, 1 + 0.015 * cm * t];
  const turned = Math.sin(radians(60 * Math.exp(-(((hm - 275) / 25) ** 2))));
  const rt = -turned * 2 * Math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7));
  return Math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + (rt * dc * dh) / (sc * sh));
}

test('the difference of two colours is that of the published examples of CIEDE2000', () => {
  expect(difference([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4);
  expect(difference([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387])).toBeCloseTo(1.2644, 4);
  expect(difference([22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619])).toBeCloseTo(2.0373, 4);
});

test.each(
  schemes.flatMap(([scheme, , lines]) =>
    Object.entries(visions).map(([who, vision]) => [scheme, who, lines, vision] as const),
  ),
)('any two lines of the %s colours differ for people %s', (_, __, lines, vision) => {
  const seen = lines.map((line) => labOf(line, vision));
  for (const [index, one] of seen.entries())
    for (const [at, other] of seen.slice(0, index).entries())
      expect(difference(one, other), `${lines[index]} and ${lines[at]}`).toBeGreaterThanOrEqual(12);
});
