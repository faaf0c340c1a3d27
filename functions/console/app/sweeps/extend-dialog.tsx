import { useId, useRef, useState } from 'preact/hooks';
import { changeSweep, resume, type Sweep } from '../api/sweeps.ts';
import { Dialog } from '../ui/controls/dialog.tsx';
import { CheckField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { tell } from '../ui/states/notice.tsx';
import { plural } from '../ui/text/format.ts';
import { type Bounds, changeOf, type Extension, rangesOf } from './extension.ts';
import { type FieldFaults, faultsAtFields, noFaults } from './start/sweep-draft.ts';

/** Dialog that gives a sweep more trials, another budget or wider bounds. What it knows stays. */
export function ExtendDialog({
  sweep,
  onChange,
  onClose,
}: {
  sweep: Sweep;
  onChange: (next: Sweep) => void;
  onClose: () => void;
}) {
  const { project_id, sweep_id, status, method } = sweep;
  const [fields, setFields] = useState<Extension>({
    name: sweep.name,
    trials: String(sweep.trials),
    parallel: String(sweep.parallel),
    budget: sweep.budget === null ? '' : String(sweep.budget),
  });
  const ranges = rangesOf(sweep);
  const [bounds, setBounds] = useState<Readonly<Record<string, Bounds>>>(() =>
    Object.fromEntries(ranges.map(({ name, min, max }) => [name, { min: String(min), max: String(max) }])),
  );
  const [isResumed, setResumed] = useState(status === 'PAUSED');
  const change = changeOf(sweep, fields, bounds);
  const asked = JSON.stringify(change);
  const [refused, setRefused] = useState<{ error: unknown; of: string }>();
  const drafts = ranges.map(({ name }) => ({ name, kind: 'range' as const }));
  const faults = (refused?.of === asked && faultsAtFields(refused.error, drafts)) || noFaults;
  const form = useRef<HTMLDivElement>(null);
  const save = async () => {
    const path = { project_id, sweep_id };
    let next = sweep;
    try {
      if (Object.keys(change).length > 0) next = await changeSweep(path, change);
    } catch (failure) {
      if (faultsAtFields(failure, drafts) === undefined) throw failure;
      setRefused({ error: failure, of: asked });
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      return;
    }
    if (isResumed && next.status === 'PAUSED') next = await resume(path);
    onChange(next);
    onClose();
    tell(
      next.status === 'RUNNING'
        ? `The sweep goes on: ${plural(next.counts.left, 'experiment')} left.`
        : 'The sweep is changed.',
    );
  };
  const field = (name: keyof typeof fields, label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      error={faults.at[name]}
      {...(name !== 'name' && { inputMode: 'decimal' as const })}
      value={fields[name]}
      onText={(text) => setFields({ ...fields, [name]: text })}
    />
  );
  return (
    <Dialog title="Extend the sweep" onClose={onClose} wide={ranges.length > 0}>
      <div ref={form}>
        <Form
          action={isResumed ? 'Extend and resume' : 'Extend'}
          onSubmit={save}
          isReady={isResumed || Object.keys(change).length > 0}
          wide
        >
          {field('name', 'Name')}
          <div class="field-row">
            {method !== 'grid' && field('trials', 'Trials', 'In all, with those that were begun.')}
            {field('parallel', 'Parallel')}
            {field('budget', 'Budget (US$)', 'Blank for none.')}
          </div>
          {ranges.length > 0 && (
            <fieldset class="bounds">
              <legend>Wider bounds</legend>
              {ranges.map(({ name }) => (
                <BoundsRow
                  key={name}
                  name={name}
                  bounds={bounds[name] ?? { min: '', max: '' }}
                  faults={faults.at}
                  onChange={(next) => setBounds({ ...bounds, [name]: next })}
                />
              ))}
            </fieldset>
          )}
          {faults.others.length > 0 && (
            <p class="fault" role="alert">
              {faults.others.join('; ')}
            </p>
          )}
          {status === 'PAUSED' && (
            <CheckField checked={isResumed} onCheck={setResumed}>
              Resume it, too
            </CheckField>
          )}
        </Form>
      </div>
    </Dialog>
  );
}

/** The bounds of a parameter, with their faults below them. */
function BoundsRow({
  name,
  bounds,
  faults,
  onChange,
}: {
  name: string;
  bounds: Bounds;
  faults: FieldFaults['at'];
  onChange: (next: Bounds) => void;
}) {
  const id = useId();
  const own = `parameters.${name}`;
  const found = [faults[own], faults[`${own}.min`], faults[`${own}.max`]].filter((one) => one !== undefined);
  return (
    <div class="bounds-row">
      <bdi class="ellipsis" title={name}>
        {name}
      </bdi>
      {(['min', 'max'] as const).map((end) => (
        <input
          key={end}
          aria-label={`${end === 'min' ? 'Min' : 'Max'} ${name}`}
          {...((faults[own] ?? faults[`${own}.${end}`]) !== undefined && {
            'aria-invalid': true,
            'aria-describedby': id,
          })}
          inputMode="decimal"
          value={bounds[end]}
          onInput={({ currentTarget: { value } }) => onChange({ ...bounds, [end]: value })}
        />
      ))}
      {found.length > 0 && (
        <p id={id} class="fault">
          {found.join('; ')}
        </p>
      )}
    </div>
  );
}
