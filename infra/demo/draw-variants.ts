import { lineColours } from '../../shared/metric-chart/line-colours.ts';
import { bytesText } from '../../shared/onnx/receipt/amount-text.ts';
import { type BarPanel, drawBars } from '../../shared/onnx/receipt/bar-panel.ts';
import type { Receipt } from '../../shared/onnx/receipt/receipt.ts';
import { pageWidth, renderPage } from '../../shared/onnx/receipt/render-page.ts';
import type { Variant } from './variant.ts';

interface Measure {
  title: string;
  subtitle: string;
  scale: BarPanel['scale'];
  value(receipt: Receipt, when: 'before' | 'after'): number | undefined;
  text(value: number): string;
}

const measures: readonly Measure[] = [
  {
    title: 'Accuracy',
    subtitle: 'share of the digits held back that are read rightly',
    scale: 'share',
    value: ({ accuracy }, when) => accuracy?.[when],
    text: (share) => `${(100 * share).toFixed(2)} %`,
  },
  {
    title: 'Size',
    subtitle: 'of the file',
    scale: 'all',
    value: ({ file_bytes }, when) => file_bytes[when],
    text: bytesText,
  },
  {
    title: 'Size, compressed',
    subtitle: 'of the file through gzip, where zeros cost little',
    scale: 'all',
    value: ({ gzip_bytes }, when) => gzip_bytes?.[when],
    text: bytesText,
  },
  {
    title: 'Speed',
    subtitle: 'times as fast as the model it was made of, one digit on one thread',
    scale: 'all',
    value: ({ latency }, when) =>
      latency === null ? undefined : 1 / (when === 'before' ? latency.aa_ratio : latency.ratio),
    text: (ratio) => `${ratio.toFixed(2)} ×`,
  },
];

function panelOf({ title, subtitle, scale, value, text }: Measure, variants: readonly Variant[]): BarPanel {
  const row = (label: string, amount: number | undefined, colour: string) => ({
    label,
    bars: amount === undefined ? [] : [{ value: amount, text: text(amount), colour }],
  });
  const [first] = variants;
  const before = first && value(first.receipt, 'before');
  return {
    title,
    subtitle,
    scale,
    rows: [
      row('as trained', before, lineColours['train']),
      ...variants.map(({ title: label, receipt }) => row(label, value(receipt, 'after'), lineColours[''])),
    ],
  };
}

/** The compressed models side by side, as an SVG page. */
export const drawVariants = (variants: readonly Variant[]): string =>
  renderPage({
    title: 'The digits model, compressed',
    description: variants
      .map(({ title, receipt }) => `${title}: ${bytesText(receipt.file_bytes.after)}.`)
      .join(' '),
    lines: [],
    rows: measures.map((measure) => [drawBars(panelOf(measure, variants), pageWidth)]),
  });
