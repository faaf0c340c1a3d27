import type { ComponentChildren } from 'preact';
import type { FoldedTrial } from '../../../../shared/sweeps/fold-trials.ts';
import type { Sweep, TrialRow } from '../api/sweeps.ts';
import type { RowLook, TableItem } from '../experiments/table-row.tsx';
import { type Column, columnPad } from '../runs/columns.ts';
import { href } from '../ui/router.ts';
import { Status } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { costText, durationText, numberText } from '../ui/text/format.ts';
import { valueText } from './sweep-text.ts';

/** A trial as a row of the table. Its id is that of its first repeat. */
export interface Trial extends FoldedTrial<TrialRow>, TableItem {}

export const trialOf = (folded: FoldedTrial<TrialRow>): Trial => ({
  ...folded,
  experiment_id: folded.rows[0]?.experiment_id ?? '',
  name: `#${folded.trial}`,
});

type TrialColumn = Column<Trial>;

const column = (
  fields: Pick<TrialColumn, 'id' | 'label' | 'width' | 'value'> & Partial<TrialColumn>,
): TrialColumn => ({
  isNumber: true,
  text: (trial) => {
    const value = fields.value(trial);
    return value === undefined ? '–' : typeof value === 'number' ? (fields.show ?? numberText)(value) : value;
  },
  show: numberText,
  ...fields,
});

const scalar = (value: string | number | boolean | undefined): string | number | undefined =>
  typeof value === 'boolean' ? String(value) : value;

const widthOf = (name: string): number => Math.min(14, Math.max(6.5, name.length * 0.6 + 2.5));

/** Return the columns of the trials of a sweep: what came out, what was tried, and what it took. */
export function trialColumns(
  { metric, parameters, repeats }: Sweep,
  extra: readonly string[],
): TrialColumn[] {
  const names = [...new Set([...Object.keys(parameters), ...extra])];
  return [
    column({ id: 'outcome', label: 'Status', width: 8.5, isNumber: false, value: ({ outcome }) => outcome }),
    column({
      id: 'value',
      label: metric,
      ...(repeats > 1 && { group: `mean of ${repeats}` }),
      width: repeats > 1 ? 11 : widthOf(metric),
      value: ({ value }) => value ?? undefined,
      text: ({ value, deviation }) => valueText(value, deviation),
    }),
    ...names.map((name) =>
      column({
        id: `params.${name}`,
        label: name,
        group: 'param',
        isNumber: false,
        width: widthOf(name),
        value: ({ params }) => (Object.hasOwn(params, name) ? scalar(params[name]) : undefined),
      }),
    ),
    column({
      id: 'step',
      label: 'Best step',
      width: 6.5,
      value: ({ rows }) => (rows.length === 1 ? (rows[0]?.step ?? undefined) : undefined),
    }),
    column({
      id: 'duration',
      label: 'Duration',
      width: 7,
      value: ({ seconds }) => seconds,
      show: durationText,
    }),
    column({ id: 'cost', label: 'Cost', width: 6, value: ({ cost }) => cost ?? undefined, show: costText }),
    column({
      id: 'started',
      label: 'Started',
      width: 7,
      isNumber: false,
      value: ({ rows }) => {
        const at = rows[0]?.started_at ?? undefined;
        return at === undefined ? undefined : Date.parse(at);
      },
    }),
    column({
      id: 'reason',
      label: 'Reason',
      width: 18,
      isNumber: false,
      value: ({ reason }) => reason ?? undefined,
    }),
  ];
}

/** How the table of trials shows its rows. */
export const trialLook = ({ project_id, sweep_id, repeats }: Sweep): RowLook<Trial> => ({
  addressOf: ({ trial, experiment_id }) =>
    repeats === 1
      ? href(['projects', project_id, 'experiments', experiment_id])
      : href(['projects', project_id], { filter: `sweep = '${sweep_id}' AND trial = ${trial}` }),
  contentOf(trial, column): ComponentChildren {
    const { id, text } = column;
    if (id === 'outcome') return <Status status={trial.outcome} />;
    if (id === 'started') return <Ago time={trial.rows[0]?.started_at ?? null} />;
    const shown = text(trial);
    if (shown === '–') return <span class="none">–</span>;
    if (id === 'reason') return <bdi title={shown}>{shown.split('\n')[0]}</bdi>;
    return <bdi data-pad={columnPad(shown, column)}>{shown}</bdi>;
  },
});
