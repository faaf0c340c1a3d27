import { useEffect, useState } from 'preact/hooks';
import { type Environment, type EnvironmentQuery, saveEnvironment } from '../api/files.ts';
import { Field, SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { tell } from '../ui/states/notice.tsx';
import { LongText } from '../ui/text/long-text.tsx';
import type { OnUnsaved } from './config-editor.tsx';

const kinds = [
  { id: 'python', name: 'Python', hint: "Requirement lines, or -r with the program's requirements.txt." },
  { id: 'node', name: 'Node', hint: 'Packages of npm.' },
  { id: 'system', name: 'None', hint: "Nothing is installed. The program uses the machine's own packages." },
  { id: 'docker', name: 'Container image', hint: 'The name of an image.' },
] as const;

/** Environment of a project, read-only. */
export const EnvironmentFacts = ({ environment }: { environment: Environment | null }) =>
  environment === null ? (
    <p class="soft small">None yet.</p>
  ) : (
    <dl class="facts">
      <dt>Command</dt>
      <dd>
        <code>{environment.entry_point_command}</code>
      </dd>
      <dt>Environment</dt>
      <dd>{kinds.find(({ id }) => id === environment.env_type)?.name}</dd>
      <dt>Dependencies</dt>
      <dd>
        <LongText text={environment.dependencies} class="mono" />
      </dd>
    </dl>
  );

const fieldsOf = (environment: Environment | null) => ({
  entry_point_command: environment?.entry_point_command ?? 'python3 train.py {config}',
  env_type: environment?.env_type ?? ('python' as Environment['env_type']),
  dependencies: environment?.dependencies ?? '',
});

/** Form for a project's environment: command and dependencies. */
export function EnvironmentForm({
  project_id,
  environment,
  onSaved,
  onUnsaved,
}: {
  project_id: string;
  environment: Environment | null;
  onSaved: (environment: Environment) => void;
  onUnsaved?: OnUnsaved;
}) {
  const stored = fieldsOf(environment);
  const [fields, setFields] = useState(stored);
  const isChanged = environment !== null && JSON.stringify(fields) !== JSON.stringify(stored);
  useEffect(() => {
    onUnsaved?.(isChanged);
    return () => onUnsaved?.(false);
  }, [isChanged, onUnsaved]);
  const save = async () => {
    const query: EnvironmentQuery = { ...fields, dependencies: fields.dependencies.trim() || 'none' };
    const saved = await saveEnvironment(project_id, query);
    setFields(fieldsOf(saved));
    onSaved(saved);
    tell('The environment is stored');
  };
  const hint = kinds.find(({ id }) => id === fields.env_type)?.hint;
  return (
    <Form action="Save" kind="plain" isReady={environment === null || isChanged} onSubmit={save} wide>
      <Field
        label="Command"
        hint="{config} and {output_dir} are replaced by their paths. The command does not run in a shell."
      >
        {(attributes) => (
          <input
            {...attributes}
            class="mono"
            value={fields.entry_point_command}
            onInput={({ currentTarget }) =>
              setFields({ ...fields, entry_point_command: currentTarget.value })
            }
          />
        )}
      </Field>
      <SelectField
        label="Kind"
        options={kinds.map(({ id, name }) => [id, name] as const)}
        value={fields.env_type}
        onChoose={(env_type) => setFields({ ...fields, env_type })}
      />
      {fields.env_type !== 'system' && (
        <Field label="Dependencies" hint={hint}>
          {(attributes) => (
            <textarea
              {...attributes}
              class="mono"
              rows={4}
              spellcheck={false}
              placeholder="none"
              value={fields.dependencies}
              onInput={({ currentTarget }) => setFields({ ...fields, dependencies: currentTarget.value })}
            />
          )}
        </Field>
      )}
    </Form>
  );
}
