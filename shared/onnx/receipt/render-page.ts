import { colours, font, labelSize, titleSize } from '../../drawing/drawing-style.ts';
import { escapeXml, fitted } from '../../drawing/drawn-text.ts';
import { at, textAt } from '../../drawing/svg-parts.ts';
import type { DrawnPanel } from './bar-panel.ts';
import { wrapped } from './text-panel.ts';

export interface Page {
  title: string;
  /** Description of the page for screen readers. */
  description: string;
  /** Text below the title. The first entry is drawn in `colour`. */
  lines: readonly string[];
  colour?: string;
  /** Panels in rows. Each row is as high as its highest panel. */
  rows: readonly (readonly DrawnPanel[])[];
}

/** Total width of a page's panels in pixels. */
export const pageWidth = 960;

/** Maximum number of lines for a text below the title. */
const maxLines = 5;

const margin = 20;

const lineHeight = 17;

/** Gap between panels in pixels. */
export const pageGap = 16;

/** Render a page of panels as a self-contained SVG 1.1 document without scripts or external resources. */
export function renderPage(page: Page): string {
  const title = fitted(page.title, pageWidth, titleSize, true);
  const lines = page.lines.flatMap((line, at) =>
    wrapped(line, pageWidth, maxLines).map((text) => ({ text, colour: at === 0 ? page.colour : undefined })),
  );
  const parts = [
    textAt(title, margin, margin + 14, { size: titleSize, colour: colours.text, bold: true }),
    ...lines.map(({ text, colour }, index) =>
      textAt(fitted(text, pageWidth, labelSize), margin, margin + 36 + index * lineHeight, {
        ...(colour !== undefined && { colour }),
      }),
    ),
  ];
  let y = margin + 36 + lines.length * lineHeight;
  for (const row of page.rows) {
    const height = Math.max(...row.map((panel) => panel.height));
    const step = (pageWidth + pageGap) / row.length;
    for (const [column, { svg }] of row.entries()) {
      const place = `translate(${at(margin + column * step)} ${at(y)})`;
      parts.push(`<g transform="${place}">`, frame(step - pageGap, height), svg, '</g>');
    }
    y += height + pageGap;
  }
  const [width, height] = [pageWidth + 2 * margin, y - pageGap + margin].map(at);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}" font-family="${font}">`,
    `<title>${escapeXml(title)}</title>`,
    `<desc>${escapeXml(page.description)}</desc>`,
    `<rect width="100%" height="100%" fill="${colours.page}"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

const frame = (wide: number, high: number): string =>
  `<rect width="${at(wide)}" height="${at(high)}" rx="8" fill="${colours.panel}" stroke="${colours.frame}"/>`;
