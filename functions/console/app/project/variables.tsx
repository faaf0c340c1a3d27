import { useState } from 'preact/hooks';
import { useLive } from '../api/use-live.ts';
import { loadVariables, removeVariable, setVariable } from '../api/variables.ts';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { CheckField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { Headings, hiddenHeading } from '../ui/listing.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { tell } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { LongText } from '../ui/text/long-text.tsx';

/** Environment variables of a project. Its owner sets them; nobody reads a secret. */
export function Variables({ project_id, mayOwn }: { project_id: string; mayOwn: boolean }) {
  const live = useLive(`variables/${project_id}`, () => loadVariables(project_id));
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [isSecret, setSecret] = useState(true);
  return (
    <section class="panel">
      <h2>Variables and secrets</h2>
      <p class="soft small panel-about">Every training of the project gets them in its environment.</p>
      <Loaded live={live} rows={2} what="The variables could not be loaded">
        {(variables) =>
          variables.length === 0 ? (
            <p class="soft small">{mayOwn ? '' : 'None.'}</p>
          ) : (
            <div class="scroll-x" tabIndex={0} role="group" aria-label="Variables">
              <table class="data">
                <Headings
                  of={[
                    'Name',
                    'Value',
                    { name: 'Changed', class: 'only-wide' },
                    ...(mayOwn ? [hiddenHeading('Actions')] : []),
                  ]}
                />
                <tbody>
                  {variables.map((variable) => (
                    <tr key={variable.name}>
                      <th scope="row">
                        <code>{variable.name}</code>
                      </th>
                      <td>
                        {variable.value === null ? (
                          <span class="soft">secret</span>
                        ) : (
                          <LongText text={variable.value} />
                        )}
                      </td>
                      <td class="soft number only-wide">
                        <Ago time={variable.updated_at} />
                      </td>
                      {mayOwn && (
                        <td class="right">
                          <AskingButton
                            kind="quiet"
                            icon="trash"
                            label={`Delete ${variable.name}`}
                            title="Delete this variable?"
                            action="Delete the variable"
                            question={`Trainings that begin later no longer get ${variable.name}.`}
                            onConfirm={() => removeVariable(project_id, variable.name).then(live.refresh)}
                          />
                        </td>
                      )}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
      {mayOwn && (
        <Form
          action={isSecret ? 'Save the secret' : 'Save the variable'}
          isReady={name.trim() !== ''}
          onSubmit={async () => {
            await setVariable(project_id, name.trim(), value, isSecret);
            tell(`${name.trim()} is saved`);
            setName('');
            setValue('');
            await live.refresh();
          }}
        >
          <div class="field-row">
            <TextField
              label="Name of the variable"
              data-key="n"
              class="mono"
              placeholder="HF_TOKEN"
              autocapitalize="none"
              autocomplete="off"
              spellcheck={false}
              value={name}
              onText={setName}
            />
            <TextField
              label="Value"
              class="mono"
              isPassword={isSecret}
              autocomplete="new-password"
              value={value}
              onText={setValue}
            />
          </div>
          <CheckField
            hint="Encrypted, masked in logs, and never shown again."
            checked={isSecret}
            onCheck={setSecret}
          >
            Secret
          </CheckField>
        </Form>
      )}
    </section>
  );
}
