import { useState } from 'preact/hooks';
import { usualEvents } from '../../../../shared/hooks/usual-events.ts';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { tell } from '../ui/states/notice.tsx';
import { type Hook, type HookFields, setHook } from './hook-calls.ts';

const formats = {
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Teams',
  mail: 'Mail to the addresses of the deployment',
  standard: 'A program (Standard Webhooks, signed)',
} as const;

const events = {
  'experiment.started': 'An experiment starts',
  'experiment.succeeded': 'An experiment succeeds',
  'experiment.failed': 'An experiment fails',
  'experiment.cancelled': 'Somebody cancels an experiment',
  'experiment.stopped': 'A rule or a budget stops an experiment',
  'metric.rule': 'A rule that notifies is met',
  'sweep.ended': 'A sweep ends',
  'schedule.paused': 'A schedule is paused',
  'budget.warning': 'A budget is nearly used',
  'budget.reached': 'A budget is used up',
  'strategy.succeeded': 'A compression succeeds',
  'strategy.failed': 'A compression fails',
  'model.version': 'A model has a new version',
  'export.ready': 'An export is ready',
  'serving.failing': 'A served model fails',
} as const;

type EventName = HookFields['events'][number];

/** Form that sets a new hook, or changes a present one. */
export function HookForm({
  project_id,
  hook,
  onSaved,
}: {
  project_id: string;
  hook: Hook | undefined;
  /** @param secret the signing secret, if the service made one */
  onSaved: (name: string, secret: string | null) => void;
}) {
  const [name, setName] = useState(hook?.name ?? '');
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<Hook['format']>(hook?.format ?? 'slack');
  const [chosen, setChosen] = useState<readonly EventName[]>(hook?.events ?? usualEvents);
  const [filter, setFilter] = useState(hook?.filter ?? '');
  const save = async () => {
    const { secret } = await setHook(project_id, name, {
      ...(url.trim() !== '' && format !== 'mail' && { url: url.trim() }),
      format,
      events: [...chosen],
      ...(filter.trim() !== '' && { filter }),
    });
    tell('The hook is stored');
    onSaved(name, secret);
  };
  return (
    <Form action={hook === undefined ? 'Add' : 'Save'} onSubmit={save} wide>
      {hook === undefined && (
        <TextField label="Name" maxLength={64} autocapitalize="none" value={name} onText={setName} />
      )}
      <SelectField label="Receiver" options={formats} value={format} onChoose={setFormat} />
      {format !== 'mail' && (
        <TextField
          label="URL of the receiver"
          hint={
            hook === undefined || hook.format === 'mail'
              ? 'It is a secret: nobody can read it again.'
              : `Leave it blank to keep the present one, at ${hook.host}.`
          }
          isPassword
          autocomplete="off"
          value={url}
          onText={setUrl}
        />
      )}
      <fieldset class="hook-events">
        <legend>Tell it when</legend>
        {Object.entries(events).map(([id, label]) => {
          const event = id as keyof typeof events;
          return (
            <label key={id} class="check">
              <input
                type="checkbox"
                checked={chosen.includes(event)}
                onChange={({ currentTarget }) =>
                  setChosen(
                    currentTarget.checked ? [...chosen, event] : chosen.filter((one) => one !== event),
                  )
                }
              />
              {label}
            </label>
          );
        })}
      </fieldset>
      <TextField
        label="Only experiments with"
        hint="A filter as in the search, such as metrics.loss < 0.5. Blank for all."
        spellcheck={false}
        value={filter}
        onText={setFilter}
      />
    </Form>
  );
}
