import { useState } from 'preact/hooks';
import type { Experiment } from '../api/answers.ts';
import { type RerunQuery, rerun } from '../api/experiments.ts';
import { Dialog } from '../ui/controls/dialog.tsx';
import { CheckField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { go, href } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { costText, sizeHint } from '../ui/text/format.ts';

type Scalar = string | number | boolean | null;

/** Convert typed text to the scalar that a configuration file would read. */
function scalarOf(text: string): Scalar {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

const sizes = [
  { name: 'vcpus', label: 'vCPUs' },
  { name: 'memory', label: 'Memory (MiB)' },
  { name: 'gpus', label: 'GPUs' },
  { name: 'timeout', label: 'Stop after (s)' },
] as const;

/**
 * Dialog to train again with an experiment's inputs and some changes.
 * @param advised size to begin with; that of the experiment by default
 */
export function RerunDialog({
  experiment,
  advised,
  onClose,
}: {
  experiment: Experiment;
  advised?: { vcpus: number; memory: number; gpus: number } | undefined;
  onClose: () => void;
}) {
  const { project_id, experiment_id, params } = experiment;
  const [values, setValues] = useState<Readonly<Record<string, string>>>(params);
  const [size, setSize] = useState<Readonly<Record<string, string>>>(() =>
    advised === undefined
      ? {}
      : { vcpus: String(advised.vcpus), memory: String(advised.memory), gpus: String(advised.gpus) },
  );
  // Checkpoints would shorten a run that is to show what a size is good for.
  const [isFresh, setFresh] = useState(advised !== undefined);
  const [wanted, setWanted] = useState('');
  const names = Object.keys(params);
  const fitting = names.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()));
  const [shown, more] = useShowMore(fitting, 60, 'params');
  const changed = names.filter((name) => values[name] !== params[name]);
  const begin = async () => {
    const overrides = Object.fromEntries(changed.map((name) => [name, scalarOf(values[name] ?? '')]));
    const query: Record<string, string | boolean> = {
      ...(changed.length > 0 && { overrides: JSON.stringify(overrides) }),
      ...(isFresh && { fresh: 'true' }),
      ...Object.fromEntries(Object.entries(size).filter(([, value]) => value !== '')),
    };
    const begun = await rerun({ project_id, experiment_id }, query as RerunQuery);
    onClose();
    go(href(['projects', project_id, 'experiments', begun.experiment_id]));
  };
  return (
    <Dialog title="Run again with changes" onClose={onClose} wide>
      <p class="soft small">
        Configuration, source, environment and data come from this experiment. Change any of its params below.
        {experiment.cost_estimate !== null &&
          ` At the size of this experiment it costs at most ${costText(experiment.cost_estimate)}.`}
        {advised !== undefined && ' The size below is the advised one.'}
      </p>
      <Form
        action={changed.length === 0 ? 'Run again' : `Run again with ${changed.length} changed`}
        onSubmit={begin}
        wide
      >
        {names.length > 12 && (
          <input
            type="search"
            aria-label="Find params"
            placeholder={`Search ${names.length} params`}
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        )}
        <div class="param-grid">
          {shown.map((name) => (
            <label key={name} class={values[name] === params[name] ? 'param' : 'param changed'}>
              <bdi class="ellipsis" title={name}>
                {name}
              </bdi>
              <input
                class="mono"
                value={values[name] ?? ''}
                spellcheck={false}
                onInput={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
              />
            </label>
          ))}
        </div>
        {more}
        <div class="field-row">
          {sizes.map(({ name, label }) => (
            <TextField
              key={name}
              label={label}
              inputMode="decimal"
              hint={sizeHint(name, size[name] || String(experiment[name]))}
              placeholder={String(experiment[name])}
              value={size[name] ?? ''}
              onText={(text) => setSize({ ...size, [name]: text })}
            />
          ))}
        </div>
        <CheckField checked={isFresh} onCheck={setFresh}>
          Start fresh (ignore its checkpoints)
        </CheckField>
      </Form>
    </Dialog>
  );
}
