import {
  amountText,
  bytesText,
  errorText,
  factorText,
  millisecondsText,
  secondsText,
  shareText,
  speedText,
} from './amount-text.ts';
import type { BarPanel, BarRow } from './bar-panel.ts';
import { batchSize } from './batch-size.ts';
import type { Receipt } from './receipt.ts';

/** Bar colours. Each has a contrast of at least 3 to 1 on white. */
export const barColours = {
  before: '#8a94a0',
  after: '#0b63b0',
  error: '#b8500c',
  zeros: '#17704a',
  memory: '#7a3fb8',
};

/** Return the panel with the sizes, times and accuracy of the model and its result. */
export function changePanel(receipt: Receipt): BarPanel {
  const { latency, latency_batch, accuracy } = receipt;
  const rows = [
    ...(accuracy === null ? [] : [changeRow(`accuracy of ${accuracy.samples} samples`, accuracy, shareText)]),
    changeRow('file', receipt.file_bytes, bytesText),
    ...(receipt.gzip_bytes === null
      ? []
      : [changeRow(receipt.gzip_sampled ? 'gzip, about' : 'gzip', receipt.gzip_bytes, bytesText)]),
    changeRow('parameters', receipt.parameters, amountText),
    changeRow('other than zero', receipt.nonzero_parameters, amountText),
  ];
  if (latency !== null) {
    rows.push(latencyRow('latency p50', latency.p50));
    rows.push(latencyRow('latency p90', latency.p90));
  }
  if (latency_batch !== null)
    rows.push(latencyRow(`p50, batch ${batchSize(latency_batch)}`, latency_batch.p50));
  const [low = 0, high = 0] = latency?.ratio_interval ?? [];
  const foot =
    latency === null
      ? 'Latency was not measured.'
      : `${speedText(latency.ratio)} (95 % of ${(1 / high).toFixed(2)} to ${(1 / low).toFixed(2)}), ${latency.blocks} blocks of ${latency.runs_per_block}, one thread; the model against itself ${speedText(latency.aa_ratio)}.`;
  return {
    title: 'Before and after',
    subtitle: 'grey: the model, blue: its result',
    rows,
    scale: 'row',
    foot,
  };
}

type Change = { before: number; after: number };

const changeRow = (label: string, { before, after }: Change, text: (value: number) => string): BarRow => ({
  label,
  bars: [
    { value: before, text: text(before), colour: barColours.before },
    { value: after, text: text(after), colour: barColours.after },
  ],
  note: factorText(before, after),
});

const latencyRow = (label: string, times: Change): BarRow => ({
  ...changeRow(label, times, millisecondsText),
  note: times.before > 0 ? speedText(times.after / times.before) : '',
});

const layersShown = 40;

/** Return the panel with the candidates that `auto` measured, by size. Undefined if it did not search. */
export function candidatePanel({ candidates }: Receipt): BarPanel | undefined {
  if (candidates.length === 0) return undefined;
  const rows = candidates.slice(0, layersShown).map(
    ({ name, file_bytes, loss, holds, is_on_front, is_chosen }): BarRow => ({
      label: `${is_chosen ? '→ ' : is_on_front ? '• ' : ''}${name}`,
      bars: [
        {
          value: file_bytes,
          text: bytesText(file_bytes),
          colour: is_chosen ? barColours.after : is_on_front ? barColours.zeros : barColours.before,
        },
      ],
      note: `${loss === null ? 'broken' : `loses ${errorText(loss)}`}${holds ? '' : ', too much'}`,
    }),
  );
  const subtitle = 'blue: chosen; green: no other is both smaller and more accurate';
  const panel: BarPanel = { title: 'Candidates', subtitle, rows, scale: 'all' };
  return withFoot(panel, more(candidates.length, layersShown, 'candidates'));
}

const withFoot = (panel: BarPanel, foot: string | undefined): BarPanel =>
  foot === undefined ? panel : { ...panel, foot };

const more = (all: number, shown: number, what: string): string | undefined =>
  all > shown ? `${all - shown} more ${what} are in the receipt's JSON.` : undefined;

const outputsShown = 20;

/** Return the panel with the relative L2 error of each output, or of each layer that ran alone. */
export function outputPanel({ outputs, checked_layers, run_as_whole, compared_on }: Receipt): BarPanel {
  const measured = run_as_whole
    ? outputs.map(({ name, relative_l2_error, why }) => ({ label: name, error: relative_l2_error, why }))
    : checked_layers.map(({ layer, relative_l2_error, why }) => ({
        label: layer,
        error: relative_l2_error,
        why,
      }));
  const rows = measured.slice(0, outputsShown).map(
    ({ label, error, why }): BarRow => ({
      label,
      bars: [
        {
          value: error ?? 0,
          text: error === null ? (why ?? 'not known') : errorText(error),
          colour: barColours.error,
        },
      ],
    }),
  );
  const on = compared_on === null ? '' : `, the first ${compared_on.samples} samples (${compared_on.source})`;
  const isByLayer = !run_as_whole && checked_layers.length > 0;
  const title = isByLayer ? 'Error of layers; not run as a whole' : 'Error of the outputs';
  if (measured.length === 0) return { title, subtitle: 'nothing was compared', rows, scale: 'all' };
  const panel: BarPanel = { title, subtitle: `relative L2, powers of ten${on}`, rows, scale: 'powers' };
  return withFoot(panel, more(measured.length, outputsShown, 'of them'));
}

/** Return the panels with the share of zeros of each layer and the error of its weight. */
export function layerPanels({ layers, layers_omitted }: Receipt): BarPanel[] {
  const shown = layers.slice(0, layersShown);
  const foot = more(layers.length + layers_omitted, layersShown, 'layers');
  const panels: BarPanel[] = [];
  if (shown.some(({ sparsity_after }) => sparsity_after !== null)) {
    const rows = shown.map(
      ({ layer, operator, sparsity_after }): BarRow => ({
        label: `${layer} (${operator})`,
        bars: [
          {
            value: sparsity_after ?? 0,
            text: sparsity_after === null ? 'not counted' : shareText(sparsity_after),
            colour: barColours.zeros,
          },
        ],
      }),
    );
    panels.push(withFoot({ title: 'Zeros by layer', rows, scale: 'share' }, foot));
  }
  if (shown.some(({ error }) => error !== null)) {
    const rows = shown.map(
      ({ layer, operator, error }): BarRow => ({
        label: `${layer} (${operator})`,
        bars: [
          {
            value: error ?? 0,
            text: error === null ? 'another shape' : errorText(error),
            colour: barColours.error,
          },
        ],
      }),
    );
    const title = 'Error of the weights by layer';
    panels.push(withFoot({ title, subtitle: 'relative L2, powers of ten', rows, scale: 'powers' }, foot));
  } else if (shown.length > 0) {
    const rows = shown.map(({ layer, operator, parameters_before, parameters_after }) =>
      changeRow(`${layer} (${operator})`, { before: parameters_before, after: parameters_after }, amountText),
    );
    panels.push(withFoot({ title: 'Parameters by layer', rows, scale: 'row' }, foot));
  }
  return panels;
}

const operatorsShown = 16;

/** Return the panel with the count of each operator before and after. */
export function operatorPanel({ operators: { before, after } }: Receipt): BarPanel {
  const count = (of: Readonly<Record<string, number>>, name: string): number =>
    Object.hasOwn(of, name) ? (of[name] ?? 0) : 0;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort(
    (a, b) => Math.max(count(before, b), count(after, b)) - Math.max(count(before, a), count(after, a)),
  );
  const rows = names.slice(0, operatorsShown).map((name) => ({
    ...changeRow(name, { before: count(before, name), after: count(after, name) }, String),
    note: '',
  }));
  const panel: BarPanel = { title: 'Operators', subtitle: 'grey: before, blue: after', rows, scale: 'all' };
  return withFoot(panel, more(names.length, operatorsShown, 'operators'));
}

/** Return the panels with the seconds and peak memory of each stage. */
export function stagePanels({ stages }: Receipt): BarPanel[] {
  return [
    {
      title: 'Seconds of each stage',
      rows: stages.map(({ name, seconds }) => ({
        label: name,
        bars: [{ value: seconds, text: secondsText(seconds), colour: barColours.after }],
      })),
      scale: 'all',
    },
    {
      title: 'Peak memory of each stage',
      rows: stages.map(({ name, peak_memory_bytes: bytes }) => ({
        label: name,
        bars: [{ value: bytes, text: bytesText(bytes), colour: barColours.memory }],
      })),
      scale: 'all',
    },
  ];
}
