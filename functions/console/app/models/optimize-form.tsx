import { useMemo, useState } from 'preact/hooks';
import { loadMethods, type ModelDetails, type Operation, optimize } from '../api/models.ts';
import { useLive } from '../api/use-live.ts';
import { tell } from '../ui/notice.tsx';
import { Field, Form, Loaded } from '../ui/parts.tsx';
import { TextField } from '../ui/text-field.tsx';
import { beginningOf, idleFault, type Method, methodsIn, type Parameter, queryOf } from './method.ts';

const readable = (name: string): string =>
  name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());

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
      <label class="check" title={description}>
        <input
          type="checkbox"
          checked={(value || usual) === 'true'}
          onChange={({ currentTarget }) => onChange(String(currentTarget.checked))}
        />
        <span>
          {readable(name)}
          <span class="hint">{description}</span>
        </span>
      </label>
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

function MethodForm({
  model,
  operation,
  methods,
  onBegun,
}: {
  model: ModelDetails;
  operation: Operation;
  methods: readonly Method[];
  onBegun: () => Promise<void>;
}) {
  const [id, setId] = useState(methods[0]?.id ?? '');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [shapes, setShapes] = useState({ inputs: 'auto', outputs: 'auto' });
  const [result, setResult] = useState('');
  const method = methods.find((one) => one.id === id) ?? methods[0];
  if (method === undefined) return null;
  const given = { ...beginningOf(method), ...values };
  const fault = idleFault(method, given);
  const rare = new Set(['exclude', 'max_error', 'seed', 'reduce_range', 'include', 'per_channel']);
  const field = (parameter: Parameter) => (
    <ParameterField
      key={parameter.name}
      parameter={parameter}
      value={given[parameter.name] ?? ''}
      error={fault?.name === parameter.name ? fault.message : undefined}
      onChange={(value) => setValues({ ...values, [parameter.name]: value })}
    />
  );
  const begin = async () => {
    await optimize(operation, {
      model_name: model.model_name,
      ...queryOf(method, given),
      ...(operation === 'prune' && shapes),
      ...(result.trim() !== '' && { result_name: result.trim() }),
    });
    tell(`${method.id} has begun`);
    await onBegun();
  };
  return (
    <Form
      action={operation === 'prune' ? 'Prune' : 'Quantize'}
      onSubmit={begin}
      isReady={fault === undefined}
      wide
    >
      <Field label="Strategy" hint={method.description}>
        {(attributes) => (
          <select
            {...attributes}
            value={method.id}
            onChange={({ currentTarget }) => setId(currentTarget.value)}
          >
            {methods.map((one) => (
              <option key={one.id}>{one.id}</option>
            ))}
          </select>
        )}
      </Field>
      {method.parameters.filter(({ name }) => !rare.has(name)).map(field)}
      <details class="graph-fold">
        <summary>More settings</summary>
        <div class="form wide">
          {method.parameters.filter(({ name }) => rare.has(name)).map(field)}
          {operation === 'prune' && (
            <>
              <TextField
                label="Shapes of the inputs"
                hint="auto uses the shapes of the model."
                class="mono"
                value={shapes.inputs}
                onText={(text) => setShapes({ ...shapes, inputs: text })}
              />
              <TextField
                label="Shapes of the outputs"
                class="mono"
                value={shapes.outputs}
                onText={(text) => setShapes({ ...shapes, outputs: text })}
              />
            </>
          )}
          <TextField
            label="Register the result as a model"
            hint="A name for the model. Another strategy can then be applied to it."
            value={result}
            onText={setResult}
          />
        </div>
      </details>
    </Form>
  );
}

/** Form for pruning or quantization, built from the service's schemas. */
export function OptimizeForm({ model, onBegun }: { model: ModelDetails; onBegun: () => Promise<void> }) {
  const [operation, setOperation] = useState<Operation>('quantize');
  const live = useLive(`methods/${operation}`, () => loadMethods(operation));
  const methods = useMemo(() => (live.data === undefined ? undefined : methodsIn(live.data)), [live.data]);
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>Make it smaller</h2>
        <div class="segments" role="group" aria-label="Kind">
          {(['quantize', 'prune'] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === operation}
              onClick={() => setOperation(one)}
            >
              {readable(one)}
            </button>
          ))}
        </div>
      </div>
      <Loaded live={live} rows={3} what="The methods could not be loaded">
        {() =>
          methods && (
            <MethodForm
              key={operation}
              model={model}
              operation={operation}
              methods={methods}
              onBegun={onBegun}
            />
          )
        }
      </Loaded>
    </section>
  );
}
