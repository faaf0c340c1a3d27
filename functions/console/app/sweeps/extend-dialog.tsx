import { useState } from 'preact/hooks';
import { tell } from '../ui/notice.tsx';
import { Dialog, Form } from '../ui/parts.tsx';
import { plural } from '../ui/text/format.ts';
import { TextField } from '../ui/text-field.tsx';
import { changeSweep, resume, type Sweep, type SweepChange } from './sweep-calls.ts';

interface Bounds {
  min: string;
  max: string;
}

interface Range {
  min: number;
  max: number;
}

const isRange = (parameter: unknown): parameter is Range =>
  typeof parameter === 'object' && parameter !== null && 'min' in parameter && 'max' in parameter;

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
  const { project_id, sweep_id, status, method, parameters } = sweep;
  const [fields, setFields] = useState({
    name: sweep.name,
    trials: String(sweep.trials),
    parallel: String(sweep.parallel),
    budget: sweep.budget === null ? '' : String(sweep.budget),
  });
  const ranges = Object.entries(parameters).flatMap(([name, parameter]) =>
    isRange(parameter) ? [{ name, parameter }] : [],
  );
  const [bounds, setBounds] = useState<Readonly<Record<string, Bounds>>>(() =>
    Object.fromEntries(
      ranges.map(({ name, parameter: { min, max } }) => [name, { min: String(min), max: String(max) }]),
    ),
  );
  const [isResumed, setResumed] = useState(status === 'PAUSED');
  const change = changeOf(sweep, fields, bounds, ranges);
  const save = async () => {
    const path = { project_id, sweep_id };
    let next = sweep;
    if (Object.keys(change).length > 0) next = await changeSweep(path, change);
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
      {...(name !== 'name' && { inputMode: 'decimal' as const })}
      value={fields[name]}
      onText={(text) => setFields({ ...fields, [name]: text })}
    />
  );
  return (
    <Dialog title="Extend the sweep" onClose={onClose} wide={ranges.length > 0}>
      <Form
        action={isResumed ? 'Extend and resume' : 'Extend'}
        onSubmit={save}
        isReady={isResumed || Object.keys(change).length > 0}
        wide
      >
        {field('name', 'Name')}
        <div class="field-row">
          {method !== 'grid' && field('trials', 'Trials', 'In all, with those that were begun.')}
          {field('parallel', 'At once')}
          {field('budget', 'Budget (US$)', 'Blank for none.')}
        </div>
        {ranges.length > 0 && (
          <fieldset class="bounds">
            <legend>Wider bounds</legend>
            {ranges.map(({ name }) => (
              <div key={name} class="bounds-row">
                <bdi class="ellipsis" title={name}>
                  {name}
                </bdi>
                {(['min', 'max'] as const).map((end) => (
                  <input
                    key={end}
                    aria-label={`${end === 'min' ? 'Least' : 'Greatest'} ${name}`}
                    inputMode="decimal"
                    value={bounds[name]?.[end] ?? ''}
                    onInput={({ currentTarget: { value } }) =>
                      setBounds({ ...bounds, [name]: { min: '', max: '', ...bounds[name], [end]: value } })
                    }
                  />
                ))}
              </div>
            ))}
          </fieldset>
        )}
        {status === 'PAUSED' && (
          <label class="check">
            <input
              type="checkbox"
              checked={isResumed}
              onChange={({ currentTarget }) => setResumed(currentTarget.checked)}
            />
            Resume it, too
          </label>
        )}
      </Form>
    </Dialog>
  );
}

/** Return the fields that somebody has changed. */
function changeOf(
  sweep: Sweep,
  { name, trials, parallel, budget }: Readonly<Record<'name' | 'trials' | 'parallel' | 'budget', string>>,
  bounds: Readonly<Record<string, Bounds>>,
  ranges: readonly { name: string; parameter: Range }[],
): SweepChange {
  const wider = Object.fromEntries(
    ranges.flatMap(({ name: one, parameter }) => {
      const { min, max } = bounds[one] ?? { min: '', max: '' };
      const isSame = Number(min) === parameter.min && Number(max) === parameter.max;
      return isSame ? [] : [[one, { ...parameter, min: Number(min), max: Number(max) }]];
    }),
  );
  const money = budget.trim() === '' ? null : Number(budget);
  return {
    ...(name.trim() !== sweep.name && { name: name.trim() }),
    ...(Number(trials) !== sweep.trials && { trials: Number(trials) }),
    ...(Number(parallel) !== sweep.parallel && { parallel: Number(parallel) }),
    ...(money !== sweep.budget && { budget: money }),
    ...(Object.keys(wider).length > 0 && { parameters: wider }),
  };
}
