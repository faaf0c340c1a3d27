import { bytesText } from './amount-text.ts';
import { type DrawnPanel, drawBars } from './bar-panel.ts';
import type { Receipt } from './receipt.ts';
import {
  candidatePanel,
  changePanel,
  layerPanels,
  operatorPanel,
  outputPanel,
  stagePanels,
} from './receipt-panels.ts';
import { pageGap, pageWidth, renderPage } from './render-page.ts';
import { drawTexts } from './text-panel.ts';

/** Dark enough to read on white. */
const warningColour = '#a3341a';

/** Render a receipt as a page of bars and notes. */
export const renderReceipt = (receipt: Receipt): string =>
  renderPage({
    title: titleOf(receipt),
    description: description(receipt),
    lines: [...receipt.summary, ...headLines(receipt)],
    ...(receipt.is_useless && { colour: warningColour }),
    rows: layout(receipt),
  });

/** Describe the request in one line. */
function titleOf({ operation, strategy, request }: Receipt): string {
  const { compression, precision, quant_type } = request;
  const how = operation === 'prune' ? `compression ${compression}` : `${precision} bits, ${quant_type}`;
  return `${operation === 'prune' ? 'Pruning' : 'Quantization'}: ${strategy}, ${how}`;
}

/** Describe the page for screen readers. */
function description({ file_bytes, outputs }: Receipt): string {
  const errors = outputs.flatMap(({ name, relative_l2_error: error }) =>
    error === null ? [] : [`${name} ${error.toPrecision(2)}`],
  );
  const sizes = `From ${bytesText(file_bytes.before)} to ${bytesText(file_bytes.after)}.`;
  return errors.length === 0
    ? sizes
    : `${sizes} Relative error of the outputs: ${errors.slice(0, 10).join(', ')}.`;
}

function headLines({ onnx_runtime, hardware, opsets, seeds, pruning }: Receipt): string[] {
  const sets = Object.entries(opsets.after).map(([domain, version]) => `${domain} ${version}`);
  const reached =
    pruning === null
      ? []
      : [
          `Prunable parameters ÷ ${pruning.reached.toFixed(2)}, parameters of the whole model ÷ ${pruning.model_ratio.toFixed(2)}.`,
        ];
  const flags =
    hardware.flags.length === 0 ? 'none of the known instruction sets' : hardware.flags.join(', ');
  return [
    ...reached,
    `Needs ONNX Runtime ${onnx_runtime.needed}, measured with ${onnx_runtime.measured_with} (${sets.join(', ')}). Seed ${seeds['request'] ?? 0}.`,
    `${hardware.processor}, ${hardware.architecture}, ${hardware.threads} thread; ${flags}.`,
  ];
}

const keptShown = 24;

/** Lay out the panels in rows of one or two. */
function layout(receipt: Receipt): DrawnPanel[][] {
  const half = (pageWidth - pageGap) / 2;
  const texts = (title: string, lines: readonly string[], colour?: string): DrawnPanel[][] =>
    lines.length === 0 ? [] : [[drawTexts(title, lines, pageWidth, colour)]];
  const kept = receipt.kept.slice(0, keptShown).map(({ what, why }) => `${what}: ${why}`);
  const others = receipt.kept.length - kept.length;
  const layers = layerPanels(receipt);
  const candidates = candidatePanel(receipt);
  return [
    ...texts('Warnings', receipt.warnings, warningColour),
    [drawBars(changePanel(receipt), pageWidth)],
    [drawBars(outputPanel(receipt), pageWidth)],
    ...(candidates === undefined ? [] : [[drawBars(candidates, pageWidth)]]),
    layers.map((panel) => drawBars(panel, layers.length === 2 ? half : pageWidth)),
    [drawBars(operatorPanel(receipt), pageWidth)],
    stagePanels(receipt).map((panel) => drawBars(panel, half)),
    ...texts('Kept, and why', [...kept, ...(others > 0 ? [`and ${others} more in the receipt's JSON`] : [])]),
    ...texts('Notes', receipt.notes),
    ...texts('Suggestions', receipt.suggestions),
  ].filter((row) => row.length > 0);
}
