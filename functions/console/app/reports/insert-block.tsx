import { useId, useState } from 'preact/hooks';
import { findExperiments } from '../api/projects.ts';
import { sweepsPage } from '../api/sweeps.ts';
import { useLive } from '../api/use-live.ts';
import { inOrder } from '../runs/metric-order.ts';
import { Dialog } from '../ui/controls/dialog.tsx';
import { CheckField, SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { Loaded } from '../ui/states/loaded.tsx';

const kinds = {
  chart: 'Chart of a metric',
  table: 'Table of experiments',
  value: 'One value',
  picture: 'Picture',
  sweep: 'Sweep',
  receipt: 'Receipt of a compression',
};
type Kind = keyof typeof kinds;

/** Dialog that writes the lines of a block from a choice of what the project has. */
export function InsertBlock({
  project_id,
  views,
  onInsert,
  onClose,
}: {
  project_id: string;
  views: readonly { name: string }[];
  onInsert: (lines: string) => void;
  onClose: () => void;
}) {
  const live = useLive(`report-sources/${project_id}`, async () => {
    const runs = await findExperiments(project_id, '', 'experiment_id,name,metrics');
    const sweeps = await sweepsPage(project_id, 50);
    return { runs: runs.rows, sweeps: sweeps.rows };
  });
  return (
    <Dialog title="Insert a block" onClose={onClose}>
      <Loaded live={live} rows={5} what="The experiments could not be loaded">
        {(sources) => <BlockForm {...sources} views={views} onInsert={onInsert} />}
      </Loaded>
    </Dialog>
  );
}

interface Sources {
  runs: readonly { experiment_id: string; name: string; metrics: Readonly<Record<string, unknown>> }[];
  sweeps: readonly { sweep_id: string; name: string }[];
  views: readonly { name: string }[];
}

function BlockForm({ runs, sweeps, views, onInsert }: Sources & { onInsert: (lines: string) => void }) {
  const [kind, setKind] = useState<Kind>('chart');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [source, setSource] = useState('');
  const names = inOrder([...new Set(runs.flatMap(({ metrics }) => Object.keys(metrics)))], undefined);
  const [metric, setMetric] = useState(names[0] ?? '');
  const [path, setPath] = useState('');
  const [isFrozen, setFrozen] = useState(false);
  const list = useId();
  const isOne = kind === 'value' || kind === 'picture';
  const isMany = kind === 'chart' || kind === 'table';
  const ids = isOne ? chosen.slice(0, 1) : chosen;
  const from =
    isMany && source !== ''
      ? source
      : ids.length > 0
        ? `${isOne ? 'experiment' : 'experiments'}: ${ids.join(', ')}`
        : '';
  const lines = [
    ...(isOne || isMany ? [from] : []),
    ...(kind === 'chart' || kind === 'value' ? [`metric: ${metric}`] : []),
    ...(kind === 'picture' ? [`path: ${path}`] : []),
    ...(kind === 'sweep' ? [source] : []),
    ...(kind === 'receipt' ? ['method: quantize', `compression: ${path}`] : []),
    ...(isFrozen && kind !== 'receipt' ? ['frozen: true'] : []),
  ];
  const isReady = lines.every((line) => !/^$|: $/.test(line));
  const sweepOptions = Object.fromEntries(
    sweeps.map(({ sweep_id, name }) => [`sweep: ${sweep_id}`, `Sweep: ${name}`]),
  );
  const viewOptions = Object.fromEntries(views.map(({ name }) => [`view: ${name}`, `View: ${name}`]));
  return (
    <Form
      action="Insert"
      isReady={isReady}
      onSubmit={async () => onInsert(`\`\`\`mps ${kind}\n${lines.join('\n')}\n\`\`\``)}
    >
      <SelectField
        label="Block"
        options={kinds}
        value={kind}
        onChoose={(next) => {
          setKind(next);
          setSource('');
        }}
      />
      {(isMany || kind === 'sweep') && (
        <SelectField
          label="From"
          options={{
            '': isMany ? 'Chosen experiments' : 'Choose a sweep',
            ...(isMany && viewOptions),
            ...sweepOptions,
          }}
          value={source}
          onChoose={setSource}
        />
      )}
      {(isOne || (isMany && source === '')) && (
        <RunChoice runs={runs} isOne={isOne} chosen={ids} onChoose={setChosen} />
      )}
      {(kind === 'chart' || kind === 'value') && (
        <>
          <TextField label="Metric" value={metric} onText={setMetric} list={list} />
          <datalist id={list}>
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
      {kind === 'picture' && (
        <TextField label="File" hint="Path among its artifacts" value={path} onText={setPath} />
      )}
      {kind === 'receipt' && (
        <TextField
          label="Compression"
          hint="Its id. Write “method: prune” for a pruning."
          value={path}
          onText={setPath}
        />
      )}
      {kind !== 'receipt' && (
        <CheckField
          hint="It keeps the data that it has when the report is saved."
          checked={isFrozen}
          onCheck={setFrozen}
        >
          Freeze
        </CheckField>
      )}
    </Form>
  );
}

function RunChoice({
  runs,
  isOne,
  chosen,
  onChoose,
}: {
  runs: Sources['runs'];
  isOne: boolean;
  chosen: readonly string[];
  onChoose: (ids: readonly string[]) => void;
}) {
  return (
    <fieldset class="report-choice">
      <legend>{isOne ? 'Experiment' : 'Experiments'}</legend>
      {runs.length === 0 && <p class="soft small">The project has no experiments yet.</p>}
      {runs.map(({ experiment_id: id, name }) => (
        <label key={id} class="check">
          <input
            type={isOne ? 'radio' : 'checkbox'}
            name="experiment"
            checked={chosen.includes(id)}
            onChange={({ currentTarget: { checked } }) =>
              onChoose(isOne ? [id] : checked ? [...chosen, id] : chosen.filter((other) => other !== id))
            }
          />
          <bdi>{name}</bdi>
        </label>
      ))}
    </fieldset>
  );
}
