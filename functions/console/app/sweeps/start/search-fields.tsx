import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { usualGoal } from '../../../../../shared/metrics/criteria.ts';
import { SelectField } from '../../ui/controls/field.tsx';
import { TextField } from '../../ui/controls/text-field.tsx';
import { type FieldFaults, type FieldName, isUnused, type SweepDraft } from './sweep-draft.ts';

interface Fields {
  draft: SweepDraft;
  faults: FieldFaults['at'];
  onChange: (change: Partial<SweepDraft>) => void;
}

/** Return the functions that make the form's fields. */
export function fieldsOf({ draft, faults, onChange }: Fields) {
  const number = (
    name: FieldName,
    label: string,
    { hint, placeholder }: { hint?: string | undefined; placeholder?: string | undefined } = {},
  ): ComponentChildren =>
    !isUnused(name, draft) && (
      <TextField
        label={label}
        inputMode="decimal"
        autocomplete="off"
        error={faults[name]}
        value={draft[name]}
        onText={(text) => onChange({ [name]: text })}
        {...(hint !== undefined && { hint })}
        {...(placeholder !== undefined && { placeholder })}
      />
    );
  const choice = (
    name: FieldName,
    label: string,
    options: Readonly<Record<string, string>>,
    hint?: string,
  ): ComponentChildren => (
    <SelectField
      label={label}
      hint={hint}
      error={faults[name]}
      options={options}
      value={draft[name]}
      onChoose={(value) => onChange({ [name]: value })}
    />
  );
  return { number, choice };
}

/** What a good trial is: the metric, and whether low or high values are better. */
export function GoalFields({ metrics, ...fields }: Fields & { metrics: readonly string[] }) {
  const { draft, faults, onChange } = fields;
  const names = useId();
  const { number, choice } = fieldsOf(fields);
  return (
    <div class="field-row">
      <TextField
        label="Metric"
        hint="As the program reports it."
        list={names}
        autocapitalize="none"
        autocomplete="off"
        spellcheck={false}
        error={faults['metric']}
        value={draft.metric}
        onText={(metric) => onChange({ metric, goal: usualGoal(metric) ?? draft.goal })}
      />
      <datalist id={names}>
        {metrics.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {choice('goal', 'Goal', { minimize: 'the lowest value', maximize: 'the highest value' })}
      {number('until.metric', 'Good enough at', {
        placeholder: 'never',
        hint: 'Ends the sweep before its last trial.',
      })}
    </div>
  );
}

const methods = {
  tpe: 'TPE: near the best',
  random: 'Random',
  sobol: 'Sobol: evenly spread',
  grid: 'Grid: all combinations',
  external: 'External: a program asks',
};

/** How the values of trials are chosen, how many there are, and how many run at once. */
export function SamplerFields(fields: Fields) {
  const { draft } = fields;
  const { number, choice } = fieldsOf(fields);
  return (
    <>
      <div class="field-row">
        {choice('method', 'Sampler', methods)}
        {number('trials', 'Trials')}
        {number('parallel', 'Parallel', { placeholder: '1' })}
      </div>
      {draft.method === 'external' && (
        <p class="soft small">
          The sweep waits for a program that asks for each trial, such as Optuna over the API.
        </p>
      )}
    </>
  );
}

const rare = ['repeats', 'retries', 'seed'] as const;

/** What most sweeps leave as it is; open where something is given or wrong. */
export function RareFields(fields: Fields) {
  const { draft, faults } = fields;
  const { number } = fieldsOf(fields);
  return (
    <details class="graph-fold" open={rare.some((name) => draft[name] !== '' || faults[name] !== undefined)}>
      <summary>Repeats, retries and seed</summary>
      <div class="field-row after">
        {number('repeats', 'Repeats', {
          placeholder: '1',
          hint: 'Trainings of each trial; their mean counts.',
        })}
        {number('retries', 'Retries', { placeholder: '0', hint: 'Of a trial that fails.' })}
        {number('seed', 'Seed', { placeholder: '0', hint: 'The same one makes the same trials.' })}
      </div>
    </details>
  );
}

const stops = {
  '': 'None',
  asha: 'ASHA: the best share goes on',
  median: 'Median: a trial worse than it ends',
};

/** When bad trials end early. */
export function StopFields(fields: Fields) {
  const { draft } = fields;
  const { number, choice } = fieldsOf(fields);
  return (
    <div class="field-row">
      {choice('stop.rule', 'Early stop', stops)}
      {draft['stop.rule'] !== '' &&
        number('stop.step_min', 'From step', { placeholder: '1', hint: 'Of the metric.' })}
      {draft['stop.rule'] === 'asha' &&
        number('stop.reduction', 'One goes on of', { placeholder: '3', hint: 'The others end.' })}
    </div>
  );
}
