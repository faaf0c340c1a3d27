import { useMemo, useState } from 'preact/hooks';
import { loadMethods, type ModelDetails, type Operation, optimize } from '../api/models.ts';
import { useLive } from '../api/use-live.ts';
import { Dialog } from '../ui/controls/dialog.tsx';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { setQuery } from '../ui/router.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { tell } from '../ui/states/notice.tsx';
import { LossField } from './loss-field.tsx';
import {
  beginningOf,
  idleFault,
  type Method,
  methodsIn,
  queryOf,
  readable,
  searchedLoss,
  shareOf,
} from './method.ts';
import { MethodFields, type Settings } from './method-fields.tsx';

const operations = ['quantize', 'prune'] as const;

const unchanged: Settings = { values: {}, inputs: 'auto', outputs: 'auto', result: '' };

/** Return the method that searches among the others, or the first one. */
const searching = (methods: readonly Method[]): Method | undefined =>
  methods.find(({ fixed }) => fixed['strategy'] === 'auto') ?? methods[0];

/**
 * Dialog that starts a compression. One field says what may be lost, and the service searches for the smallest version
 * within it. All other settings are folded.
 */
export function CompressDialog({
  model,
  onBegun,
  onClose,
}: {
  model: ModelDetails;
  onBegun: () => Promise<void>;
  onClose: () => void;
}) {
  const [operation, setOperation] = useState<Operation>('quantize');
  const [loss, setLoss] = useState('0.5');
  const [id, setId] = useState<string>();
  const [settings, setSettings] = useState(unchanged);
  const live = useLive(`methods/${operation}`, () => loadMethods(operation), { isKept: true });
  const methods = useMemo(() => methodsIn(live.data ?? { anyOf: [] }), [live.data]);
  const method = methods.find((one) => one.id === id) ?? searching(methods);
  const given = method && { ...beginningOf(method), ...settings.values };
  const isSearch = method?.parameters.some(({ name }) => name === searchedLoss) ?? true;
  const share = shareOf(loss);
  const isReady =
    method !== undefined &&
    given !== undefined &&
    idleFault(method, given) === undefined &&
    (!isSearch || share !== undefined);
  const begin = async () => {
    if (method === undefined || given === undefined) return;
    const { strategy_id } = await optimize(operation, {
      model_name: model.model_name,
      ...queryOf(method, given),
      ...(isSearch && share !== undefined && { [searchedLoss]: String(share) }),
      ...(operation === 'prune' && { inputs: settings.inputs, outputs: settings.outputs }),
      ...(settings.result.trim() !== '' && { result_name: settings.result.trim() }),
    });
    onClose();
    tell(`${method.id} has begun`);
    setQuery({ strategy: strategy_id });
    await onBegun();
  };
  return (
    <Dialog title={`Compress ${model.model_name}`} onClose={onClose}>
      <Form action="Compress" onSubmit={begin} isReady={isReady} wide>
        {isSearch && <LossField loss={loss} hasEvaluation={model.has_evaluation} onLoss={setLoss} />}
        <details class="graph-fold">
          <summary>More</summary>
          <div class="form wide">
            <div class="segments" role="group" aria-label="Kind">
              {operations.map((one) => (
                <button
                  key={one}
                  type="button"
                  aria-pressed={one === operation}
                  onClick={() => {
                    setOperation(one);
                    setId(undefined);
                  }}
                >
                  {readable(one)}
                </button>
              ))}
            </div>
            <Loaded live={live} rows={3} what="The methods could not be loaded">
              {() =>
                method &&
                given && (
                  <>
                    <SelectField
                      label="Strategy"
                      hint={method.description}
                      options={methods.map((one) => [one.id, one.id] as const)}
                      value={method.id}
                      onChoose={setId}
                    />
                    <MethodFields
                      operation={operation}
                      method={method}
                      given={given}
                      settings={settings}
                      onSettings={setSettings}
                    />
                  </>
                )
              }
            </Loaded>
          </div>
        </details>
      </Form>
    </Dialog>
  );
}
