import { useState } from 'preact/hooks';
import { SelectField } from '../../ui/controls/field.tsx';
import { TextField } from '../../ui/controls/text-field.tsx';
import { useShowMore } from '../../ui/show-more.tsx';
import type { ParameterDraft, ParameterKind } from './suggest-space.ts';
import type { FieldFaults } from './sweep-draft.ts';

/** What the trials differ in: a row for each value of the configuration or the command, the varied ones first. */
export function SpaceFields({
  parameters,
  faults,
  isGrid,
  onChange,
}: {
  parameters: readonly ParameterDraft[];
  faults: FieldFaults['at'];
  isGrid: boolean;
  onChange: (name: string, change: Partial<ParameterDraft>) => void;
}) {
  const [wanted, setWanted] = useState('');
  const varied = parameters.filter(({ kind }) => kind !== 'fixed');
  const fixed = parameters.filter(
    ({ kind, name }) => kind === 'fixed' && name.toLowerCase().includes(wanted.toLowerCase()),
  );
  const [shown, more] = useShowMore(fixed, 20, 'values');
  const fault = faults['parameters'];
  const row = (parameter: ParameterDraft) => (
    <Row
      key={parameter.name}
      parameter={parameter}
      faults={faults}
      isGrid={isGrid}
      onChange={(change) => onChange(parameter.name, change)}
    />
  );
  return (
    <>
      {fault !== undefined && (
        <p class="fault" role="alert">
          {varied.length === 0 ? 'Choose what to vary: a range, or values.' : fault}
        </p>
      )}
      {varied.map(row)}
      {varied.length < parameters.length && (
        <div class="space-fixed">
          <div class="bar-row">
            <h3>The same in all trials</h3>
            {parameters.length > 12 && (
              <input
                type="search"
                class="find"
                aria-label="Find values"
                placeholder={`Search ${parameters.length} values`}
                value={wanted}
                onInput={({ currentTarget }) => setWanted(currentTarget.value)}
              />
            )}
          </div>
          {shown.map(row)}
          {more}
        </div>
      )}
    </>
  );
}

const kinds: Readonly<Record<ParameterKind, string>> = {
  fixed: 'Fixed',
  range: 'Range',
  values: 'Values',
};
const scales: Readonly<Record<ParameterDraft['scale'], string>> = { linear: 'Linear', log: 'Log' };

function Row({
  parameter,
  faults,
  isGrid,
  onChange,
}: {
  parameter: ParameterDraft;
  faults: FieldFaults['at'];
  isGrid: boolean;
  onChange: (change: Partial<ParameterDraft>) => void;
}) {
  const { name, kind, present } = parameter;
  const own = `parameters.${name}`;
  const fault = faults[own];
  const text = (
    field: 'value' | 'min' | 'max' | 'step' | 'values',
    label: string,
    { placeholder, hint }: { placeholder?: string; hint?: string } = {},
  ) => (
    <TextField
      label={label}
      class="mono"
      spellcheck={false}
      autocapitalize="none"
      autocomplete="off"
      {...(field !== 'value' && field !== 'values' && { inputMode: 'decimal' as const })}
      {...(placeholder !== undefined && { placeholder })}
      {...(hint !== undefined && { hint })}
      error={faults[`${own}.${field}`]}
      value={parameter[field]}
      onText={(typed) => onChange({ [field]: typed })}
    />
  );
  return (
    <fieldset class={`space-row ${kind}`}>
      <legend class="mono">
        <bdi>{name}</bdi>
        {kind !== 'fixed' && <span class="soft now">now {present === null ? '–' : String(present)}</span>}
      </legend>
      <SelectField
        label="Kind"
        options={kinds}
        value={kind}
        error={kind === 'fixed' ? undefined : fault}
        onChoose={(next) => onChange({ kind: next })}
      />
      {kind === 'fixed' && (
        <TextField
          label="Value"
          class="mono"
          spellcheck={false}
          error={fault}
          value={parameter.value}
          onText={(value) => onChange({ value })}
        />
      )}
      {kind === 'range' && (
        <>
          {text('min', 'Min')}
          {text('max', 'Max')}
          {text('step', 'Step', { placeholder: isGrid ? 'needed in a grid' : 'any' })}
          <SelectField
            label="Scale"
            options={scales}
            value={parameter.scale}
            error={faults[`${own}.scale`]}
            onChoose={(scale) => onChange({ scale })}
          />
        </>
      )}
      {kind === 'values' && text('values', 'Values, with commas')}
    </fieldset>
  );
}
