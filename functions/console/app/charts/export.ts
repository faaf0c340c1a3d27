import type uPlot from 'uplot';
import { escapeXml } from '../../../../shared/drawing/drawn-text.ts';
import { cssColour, lineColour, lineDash } from '../theme/colours.ts';
import { saveBlob } from '../ui/save.ts';
import { numberText } from '../ui/text/format.ts';
import { chartCsv } from './chart-csv.ts';
import type { Shown } from './drawing/plot.ts';
import { bandPath, linePath } from './drawing/svg-paths.ts';
import type { Line } from './series.ts';

export interface Drawn {
  title: string;
  axisName: string;
  lines: readonly {
    label: string;
    /** Line style. */
    colour: number;
    raw: Line;
    smooth: Line;
    edges?: Shown['edges'];
  }[];
  plot: uPlot | undefined;
  isSmoothed: boolean;
}

const fileName = (title: string): string => title.replace(/[^\w.-]+/g, '_').slice(0, 80) || 'chart';
const lineHeight = 18;
/** Opacity of the band around a mean, as `1c` in the plot. */
const bandOpacity = 0.11;
const top = 34;

/** Save the chart as a PNG, as on the page, with its title and the names of its lines. */
export function exportPng({ title, lines, plot }: Drawn): void {
  if (plot === undefined) return;
  const from = plot.ctx.canvas;
  const ratio = devicePixelRatio;
  const canvas = document.createElement('canvas');
  canvas.width = from.width;
  canvas.height = from.height + (top + lines.length * lineHeight + 8) * ratio;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.fillStyle = cssColour('page');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(from, 0, top * ratio);
  context.scale(ratio, ratio);
  context.fillStyle = cssColour('text');
  context.font = '600 15px system-ui, sans-serif';
  context.fillText(title, 12, 22);
  context.font = '12px system-ui, sans-serif';
  for (const [index, { label, colour }] of lines.entries()) {
    const y = top + from.height / ratio + (index + 0.7) * lineHeight;
    context.strokeStyle = cssColour(lineColour(colour));
    context.lineWidth = 3;
    context.setLineDash(lineDash(colour) ?? []);
    context.beginPath();
    context.moveTo(14, y - 4);
    context.lineTo(32, y - 4);
    context.stroke();
    context.fillStyle = cssColour('text');
    context.fillText(label, 40, y);
  }
  canvas.toBlob((blob) => {
    if (blob !== null) saveBlob(blob, `${fileName(title)}.png`);
  });
}

export const exportCsv = (drawn: Drawn): void =>
  saveBlob(new Blob([chartCsv(drawn)], { type: 'text/csv;charset=utf-8' }), `${fileName(drawn.title)}.csv`);

/** Save the chart as an SVG with editable lines and texts. */
export function exportSvg({ title, axisName, lines, plot, isSmoothed }: Drawn): void {
  if (plot === undefined) return;
  const { left, top: boxTop, width, height } = plot.bbox;
  const ratio = devicePixelRatio;
  const box = { left: left / ratio, top: boxTop / ratio + top, width: width / ratio, height: height / ratio };
  const x = (value: number): number => box.left + plot.valToPos(value, 'x');
  const y = (value: number): number => box.top + plot.valToPos(value, 'y');
  const [text, soft, grid] = [cssColour('text'), cssColour('soft'), cssColour('line')];
  const inked = (colour: number): string => {
    const dash = lineDash(colour);
    return `stroke="${cssColour(lineColour(colour))}"${dash ? ` stroke-dasharray="${dash.join(' ')}"` : ''}`;
  };
  const stroke = (line: Line, colour: number, look: string): string =>
    `<path d="${linePath(line, x, y)}" fill="none" ${inked(colour)} ${look}/>`;
  const band = (edges: Shown['edges'], colour: number): string =>
    edges === undefined
      ? ''
      : `<path d="${bandPath(...edges, x, y)}" fill="${cssColour(lineColour(colour))}" fill-opacity="${bandOpacity}"/>`;
  const ticks = (scale: 'x' | 'y'): string => {
    const axis = plot.axes[scale === 'x' ? 0 : 1] as
      | { _splits?: number[] | null; _values?: (string | null)[] | null }
      | undefined;
    return (axis?._splits ?? [])
      .map((value, index) => {
        const label = escapeXml(String(axis?._values?.[index] ?? numberText(value)));
        return scale === 'x'
          ? `<path d="M${x(value).toFixed(1)} ${box.top}v${box.height}" stroke="${grid}"/><text x="${x(value).toFixed(1)}" y="${box.top + box.height + 18}" text-anchor="middle">${label}</text>`
          : `<path d="M${box.left} ${y(value).toFixed(1)}h${box.width}" stroke="${grid}"/><text x="${box.left - 8}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${label}</text>`;
      })
      .join('');
  };
  const end = box.top + box.height + 44;
  const [fullWidth, fullHeight] = [plot.width, end + lines.length * lineHeight + 10];
  const legend = lines
    .map(({ label, colour }, index) => {
      const at = end + index * lineHeight;
      return `<path d="M14 ${at - 4}h18" ${inked(colour)} stroke-width="3"/><text x="40" y="${at}" fill="${text}">${escapeXml(label)}</text>`;
    })
    .join('');
  const drawn = lines
    .map(({ colour, raw, smooth, edges }) => {
      // As on the page, a band takes the place of the raw line.
      const behind =
        isSmoothed && edges === undefined ? stroke(raw, colour, 'stroke-width="1" opacity="0.3"') : '';
      return band(edges, colour) + behind + stroke(smooth, colour, 'stroke-width="2"');
    })
    .join('');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${fullWidth}" height="${fullHeight}" viewBox="0 0 ${fullWidth} ${fullHeight}" font-family="system-ui, sans-serif" font-size="12"><rect width="100%" height="100%" fill="${cssColour('page')}"/><text x="12" y="22" font-size="15" font-weight="600" fill="${text}">${escapeXml(title)}</text><g fill="${soft}">${ticks('x')}${ticks('y')}<text x="${box.left + box.width}" y="${box.top + box.height + 34}" text-anchor="end">${escapeXml(axisName)}</text></g><clipPath id="box"><rect x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}"/></clipPath><g clip-path="url(#box)">${drawn}</g>${legend}</svg>`;
  saveBlob(new Blob([svg], { type: 'image/svg+xml' }), `${fileName(title)}.svg`);
}
