import { useId, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { RuleCondition } from '../../../../shared/run-rules/rule-condition.ts';
import type { RunRule } from '../../../../shared/run-rules/run-rule.ts';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { draftedRule, faultyField, type RuleDraft, ruleDraft } from './rule-draft.ts';

/** Form of one rule. The service's faults appear at their fields. */
export function RuleForm({
  rule,
  index,
  metrics,
  onSave,
}: {
  /** Undefined for a new rule. */
  rule: RunRule | undefined;
  /** Position of the rule in the project's list, by which the service names its faults. */
  index: number;
  /** Names that the project's runs have reported. */
  metrics: readonly string[];
  onSave: (rule: RunRule) => Promise<void>;
}) {
  const [draft, setDraft] = useState<RuleDraft>(() => ruleDraft(rule));
  const [faults, setFaults] = useState<Faults>({});
  const names = useId();
  const { condition } = draft;
  const set = (change: Partial<RuleDraft>) => setDraft({ ...draft, ...change });
  const save = async () => {
    setFaults({});
    try {
      await onSave(draftedRule(draft));
    } catch (error) {
      const found = faultsAtFields(error, index);
      if (found === undefined) throw error;
      setFaults(found);
    }
  };
  const text = (field: 'metric' | 'value' | 'span' | 'share', label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      error={faults[field]}
      autocapitalize="none"
      autocomplete="off"
      spellcheck={false}
      value={draft[field]}
      onText={(typed) => set({ [field]: typed })}
      {...(field === 'metric' && { list: names })}
    />
  );
  const choice = <F extends Choice>(field: F, label: string, options: Options<F>) => (
    <SelectField<RuleDraft[F]>
      label={label}
      error={faults[field]}
      options={options}
      value={draft[field]}
      onChoose={(value) => set({ [field]: value })}
    />
  );
  return (
    <Form action={rule === undefined ? 'Add the rule' : 'Save the rule'} onSubmit={save} wide>
      {choice('condition', 'When', conditions)}
      {ofMetric.has(condition) && (
        <>
          {text('metric', 'Metric', 'Exactly as the program reports it.')}
          <datalist id={names}>
            {metrics.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
      {(condition === 'above' || condition === 'below') && (
        <div class="field-row">
          {text('value', condition === 'above' ? 'Above' : 'Below')}
          {text('span', 'For', 'Such as 3 evaluations, or 30m. Blank: one value.')}
        </div>
      )}
      {condition === 'no improvement' && (
        <div class="field-row">
          {text('span', 'For', 'Such as 10 evaluations, or 2h.')}
          {choice('goal', 'Goal', goals)}
        </div>
      )}
      {condition === 'silent' && text('span', 'For', 'Neither output nor a metric, such as 30m.')}
      {condition === 'idle' && (
        <div class="field-row">
          {choice('device', 'Which', devices)}
          {text('share', 'Used less than', 'Such as 5 %.')}
          {text('span', 'For', 'Such as 20m.')}
        </div>
      )}
      {choice('action', 'Then', actions)}
    </Form>
  );
}

type Faults = Partial<Record<keyof RuleDraft, string>>;

/** Fields that are chosen from a list, and the names of their values. */
type Choice = 'condition' | 'goal' | 'device' | 'action';
type Options<F extends Choice> = Readonly<Record<RuleDraft[F], string>>;

const conditions: Options<'condition'> = {
  nan: 'A metric is NaN or infinite',
  above: 'A metric is above a value',
  below: 'A metric is below a value',
  'no improvement': 'A metric no longer improves',
  silent: 'The program is silent',
  idle: 'The machine is idle',
};
const goals: Options<'goal'> = {
  '': 'as usual for its name',
  minimize: 'the lowest value',
  maximize: 'the highest value',
};
const devices: Options<'device'> = { gpu: 'All GPUs', cpu: 'The vCPUs' };
const actions: Options<'action'> = { stop: 'Stop the run', notify: 'Tell the hooks' };

const ofMetric: ReadonlySet<RuleCondition> = new Set(['nan', 'above', 'below', 'no improvement']);

/** Return the faults of an error by field. Return undefined if one of them belongs to no field. */
function faultsAtFields(error: unknown, index: number): Faults | undefined {
  if (!(error instanceof ProblemError) || error.faults.length === 0) return undefined;
  const found: Faults = {};
  for (const { name, message } of error.faults) {
    const field = faultyField(name, index);
    if (field === undefined) return undefined;
    found[field] = message;
  }
  return found;
}
