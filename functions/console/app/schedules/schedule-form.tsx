import { useState } from 'preact/hooks';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { tell } from '../ui/states/notice.tsx';
import { cronWords } from './cron-words.ts';
import { changeSchedule, type Schedule, type ScheduleChange } from './schedule-calls.ts';

/** Form that changes when and how a schedule runs. The service checks the fields, and names every fault. */
export function ScheduleForm({ schedule, onSaved }: { schedule: Schedule; onSaved: () => Promise<void> }) {
  const present = {
    name: schedule.name,
    cron: schedule.cron,
    zone: schedule.zone,
    budget: schedule.budget === null ? '' : String(schedule.budget),
  };
  const [fields, setFields] = useState(present);
  const [overlap, setOverlap] = useState(schedule.overlap);
  const budget = fields.budget.trim();
  const budgetError = budget === '' || Number(budget) > 0 ? undefined : 'must be an amount, such as 5';
  const changed: ScheduleChange = {
    ...(fields.name !== present.name && { name: fields.name }),
    ...(fields.cron !== present.cron && { cron: fields.cron }),
    ...(fields.zone !== present.zone && { zone: fields.zone }),
    ...(overlap !== schedule.overlap && { overlap }),
    ...(budget !== present.budget && { budget: budget === '' ? null : Number(budget) }),
  };
  const input = (name: keyof typeof fields, label: string, hint?: string, error?: string) => (
    <TextField
      label={label}
      hint={hint}
      error={error}
      spellcheck={false}
      value={fields[name]}
      onText={(text) => setFields({ ...fields, [name]: text })}
    />
  );
  const save = async () => {
    await changeSchedule(schedule, changed);
    tell('The schedule is changed. From now on it runs as you.');
    await onSaved();
  };
  return (
    <Form
      action="Save"
      kind="plain"
      isReady={budgetError === undefined && Object.keys(changed).length > 0}
      onSubmit={save}
      wide
    >
      <div class="field-row">
        {input('name', 'Name')}
        {input('cron', 'Minute, hour, day, month, day of week', cronWords(fields.cron))}
      </div>
      <div class="field-row">
        {input('zone', 'Time zone', 'Such as Europe/Berlin')}
        {input('budget', 'Budget of each run (US$)', 'Blank for none', budgetError)}
      </div>
      <SelectField
        label="If the run before has not ended"
        options={{ skip: 'skip the time', queue: 'queue one run' }}
        value={overlap}
        onChoose={setOverlap}
      />
    </Form>
  );
}
