import type { Operation } from '../api/models.ts';
import { CheckField, Field } from '../ui/controls/field.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { idleFault, type Method, type Parameter, readable, searchedLoss } from './method.ts';

function ParameterField({
  parameter,
  value,
  error,
  onChange,
}: {
  parameter: Parameter;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const { name, kind, description, choices, usual } = parameter;
  if (kind === 'flag')
    return (
      <CheckField
        title={description}
        hint={description}
        checked={(value || usual) === 'true'}
        onCheck={(checked) => onChange(String(checked))}
      >
        {readable(name)}
      </CheckField>
    );
  return (
    <Field label={readable(name)} hint={description} error={error}>
      {(attributes) =>
        kind === 'choice' ? (
          <select
            {...attributes}
            value={value || usual}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
          >
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        ) : (
          <input
            {...attributes}
            placeholder={usual === '' ? 'none' : usual}
            inputMode={kind === 'number' ? 'decimal' : 'text'}
            value={value}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

/** What was chosen in a form of a compression, beside its method. */
export interface Settings {
  /** Values of the method's parameters by name. */
  values: Readonly<Record<string, string>>;
  /** Shapes of the inputs and outputs, for a pruning. */
  inputs: string;
  outputs: string;
  /** Name of the model that the result becomes. Empty for none. */
  result: string;
}

/** Fields of a method, from the service's schema. The share that may be lost has a field of its own elsewhere. */
export function MethodFields({
  operation,
  method,
  given,
  settings,
  onSettings,
}: {
  operation: Operation;
  method: Method;
  /** Values of the parameters, with those that the method begins with. */
  given: Readonly<Record<string, string>>;
  settings: Settings;
  onSettings: (next: Settings) => void;
}) {
  const fault = idleFault(method, given);
  return (
    <>
      {method.parameters
        .filter(({ name }) => name !== searchedLoss)
        .map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={given[parameter.name] ?? ''}
            error={fault?.name === parameter.name ? fault.message : undefined}
            onChange={(value) =>
              onSettings({ ...settings, values: { ...settings.values, [parameter.name]: value } })
            }
          />
        ))}
      {operation === 'prune' && (
        <>
          <TextField
            label="Shapes of the inputs"
            hint="auto uses the shapes of the model."
            class="mono"
            value={settings.inputs}
            onText={(inputs) => onSettings({ ...settings, inputs })}
          />
          <TextField
            label="Shapes of the outputs"
            class="mono"
            value={settings.outputs}
            onText={(outputs) => onSettings({ ...settings, outputs })}
          />
        </>
      )}
      <TextField
        label="Register the result as a model"
        hint="A name for the model. Another strategy can then be applied to it."
        value={settings.result}
        onText={(result) => onSettings({ ...settings, result })}
      />
    </>
  );
}
