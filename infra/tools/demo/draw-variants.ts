import { lineColours } from '../../../shared/drawing/metric-chart/line-colours.ts';
import { bytesText } from '../../../shared/onnx/receipt/amount-text.ts';
import { type BarPanel, drawBars } from '../../../shared/onnx/receipt/bar-panel.ts';
import type { Receipt } from '../../../shared/onnx/receipt/receipt.ts';
import { pageWidth, renderPage } from '../../../shared/onnx/receipt/render-page.ts';
import type { Variant } from './variant.ts';

interface Measure {
  title: string;
  subtitle: string;
  scale: BarPanel['scale'];
  /** Of the trained model, by the receipt of any result. */
  before(receipt: Receipt): number | undefined;
  after(variant: Variant): number | undefined;
  text(value: number): string;
}

const measures: readonly Measure[] = [
  {
    title: 'Accuracy',
    subtitle: 'share of the digits held back that are read rightly',
    scale: 'share',
    before: ({ accuracy }) => accuracy?.before,
    after: ({ receipt }) => receipt.accuracy?.after,
    text: (share) => `${(100 * share).toFixed(2)} %`,
  },
  {
    title: 'Size',
    subtitle: 'of the file',
    scale: 'all',
    before: ({ file_bytes }) => file_bytes.before,
    after: ({ receipt }) => receipt.file_bytes.after,
    text: bytesText,
  },
  {
    title: 'Speed',
    subtitle: 'times as fast as the trained model, one digit on one thread',
    scale: 'all',
    before: () => 1,
    after: ({ speed }) => speed,
    text: (ratio) => `${ratio.toFixed(2)} ×`,
  },
];

function panelOf(
  { title, subtitle, scale, before, after, text }: Measure,
  variants: readonly Variant[],
): BarPanel {
  const row = (label: string, amount: number | undefined, colour: string) => ({
    label,
    bars: amount === undefined ? [] : [{ value: amount, text: text(amount), colour }],
  });
  const [first] = variants;
  const trained = first && before(first.receipt);
  return {
    title,
    subtitle,
    scale,
    rows: [
      row('as trained', trained, lineColours['train']),
      ...variants.map((variant) => row(variant.title, after(variant), lineColours[''])),
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
