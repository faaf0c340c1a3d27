import { useMemo, useRef, useState } from 'preact/hooks';
import { ProblemError } from '../../../../../shared/client/problem-error.ts';
import { shownCommand } from '../../../../../shared/command/private-argument.ts';
import type { Experiment, ProjectDetails } from '../../api/answers.ts';
import { type Config, type ConfigFile, type Environment, loadDatasets } from '../../api/files.ts';
import { beginSweep, type SweepEstimate, type SweepRequest } from '../../api/sweeps.ts';
import { useLive } from '../../api/use-live.ts';
import { SelectField } from '../../ui/controls/field.tsx';
import { Form } from '../../ui/controls/form.tsx';
import { TextField } from '../../ui/controls/text-field.tsx';
import { goOn, href } from '../../ui/router.ts';
import { problemText } from '../../ui/states/problem.tsx';
import { costText, durationText, plural, sizeHint } from '../../ui/text/format.ts';
import { valuesOfCommand, valuesOfConfig } from './present-values.ts';
import { fieldsOf, GoalFields, RareFields, SamplerFields, StopFields } from './search-fields.tsx';
import { SpaceFields } from './space-fields.tsx';
import { forGrid, type ParameterDraft, suggestSpace } from './suggest-space.ts';
import { faultsAtFields, fieldNames, noFaults, type SweepDraft, sweepRequest } from './sweep-draft.ts';
import { useDefaultSizes } from './use-default-sizes.ts';
import { useSweepCost } from './use-sweep-cost.ts';

/** Form of a sweep. The service checks it while it is filled in, and its faults appear at their fields. */
export function SweepForm({
  project,
  configs,
  environment,
  around,
  file,
  onConfig,
}: {
  project: ProjectDetails;
  configs: readonly Config[];
  environment: Environment;
  /** Experiment to search around. */
  around: Experiment | undefined;
  file: ConfigFile;
  onConfig: (config_id: string) => void;
}) {
  const { project_id } = project;
  const { entry_point_command: command } = environment;
  const spaces = useMemo(
    () => ({
      false: suggestSpace(valuesOfConfig(file.config_id, file.content), around?.params),
      true: suggestSpace(valuesOfCommand(command), around?.params),
    }),
    [file, command, around],
  );
  const [draft, setDraft] = useState<SweepDraft>(() => firstDraft(project, file, spaces, around));
  const [edited, setEdited] = useState<Readonly<Partial<Record<string, readonly ParameterDraft[]>>>>({});
  const parameters = edited[draft.args] ?? spaces[draft.args === 'true' ? 'true' : 'false'];
  const setParameters = (next: readonly ParameterDraft[]) => setEdited({ ...edited, [draft.args]: next });
  const request = sweepRequest(draft, parameters) as SweepRequest;
  const [refused, setRefused] = useState<{ error: unknown; of: string }>();
  const { estimate, error } = useSweepCost(project_id, request);
  const asked = JSON.stringify(request);
  const faulty = refused?.of === asked ? refused.error : error;
  const faults = faultsAtFields(faulty, parameters) ?? noFaults;
  const form = useRef<HTMLDivElement>(null);
  const change = (next: Partial<SweepDraft>) => {
    setDraft({ ...draft, ...next });
    if (next.method === 'grid') setParameters(parameters.map(forGrid));
  };
  const fields = { draft, faults: faults.at, onChange: change };
  const { number } = fieldsOf(fields);
  const sizes = useDefaultSizes(project_id, draft);
  const size = (name: 'vcpus' | 'memory' | 'gpus' | 'timeout', label: string) => {
    const placeholder = sizes && String(sizes[name]);
    return number(name, label, { placeholder, hint: sizeHint(name, draft[name] || (placeholder ?? '')) });
  };
  const begin = async () => {
    try {
      const { sweep_id } = await beginSweep(project_id, request);
      goOn(href(['projects', project_id, 'sweeps', sweep_id]));
    } catch (failure) {
      if (faultsAtFields(failure, parameters) === undefined) throw failure;
      setRefused({ error: failure, of: asked });
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
    }
  };
  return (
    <div class="split" ref={form}>
      <div>
        <section class="panel">
          <h2>What runs</h2>
          <div class="field-row">
            <SelectField
              label="Configuration"
              error={faults.at['config']}
              options={Object.fromEntries(
                configs.map(({ config_id, version }) => [config_id, `${config_id}, version ${version}`]),
              )}
              value={draft.config}
              onChoose={onConfig}
            />
            <SelectField
              label="Vary"
              error={faults.at['args']}
              options={{ false: 'Values of the configuration', true: 'Flags of the command' }}
              value={draft.args}
              onChoose={(args) => change({ args })}
            />
          </div>
          <Command command={command} project_id={project_id} around={around} />
        </section>
        <section class="panel">
          <h2>Search space</h2>
          {parameters.length === 0 ? (
            <p class="soft small">
              {draft.args === 'true'
                ? 'The command has no flags. Search values of the configuration instead.'
                : `${file.config_id} has no values. Search flags of the command instead.`}
            </p>
          ) : (
            <SpaceFields
              parameters={parameters}
              faults={faults.at}
              isGrid={draft.method === 'grid'}
              onChange={(name, next) =>
                setParameters(
                  parameters.map((parameter) =>
                    parameter.name === name ? { ...parameter, ...next } : parameter,
                  ),
                )
              }
            />
          )}
        </section>
        <section class="panel">
          <h2>Search</h2>
          <div class="search-fields">
            <GoalFields {...fields} metrics={project.metrics.map(({ name }) => name)} />
            <SamplerFields {...fields} />
            <StopFields {...fields} />
            <RareFields {...fields} />
          </div>
        </section>
      </div>
      <aside class="launch" aria-label="Size, budget and start">
        <section class="panel">
          <h2>Size and budget</h2>
          <Form action="Start the sweep" onSubmit={begin} wide>
            <TextField
              label="Name"
              placeholder={`${draft.method} sweep`}
              error={faults.at['name']}
              value={draft.name}
              onText={(name) => change({ name })}
            />
            <DatasetField project_id={project_id} fields={fields} />
            <div class="field-row two">
              {size('vcpus', 'vCPUs')}
              {size('memory', 'Memory (MiB)')}
              {size('gpus', 'GPUs')}
              {size('timeout', 'Stop after (s)')}
              {number('nodes', 'Nodes', { placeholder: '1' })}
              {number('budget', 'Budget (US$)', { placeholder: 'none' })}
            </div>
            <Cost estimate={estimate} error={faulty} others={faults.others} />
          </Form>
        </section>
      </aside>
    </div>
  );
}

/** Return the form as it opens: a search that starts as it is. */
function firstDraft(
  { criterion, criterion_goal }: ProjectDetails,
  { config_id }: ConfigFile,
  spaces: Readonly<Record<'true' | 'false', readonly ParameterDraft[]>>,
  around: Experiment | undefined,
): SweepDraft {
  const isVaried = (space: readonly ParameterDraft[]) => space.some(({ kind }) => kind !== 'fixed');
  const blank = Object.fromEntries(fieldNames.map((name) => [name, ''])) as SweepDraft;
  return {
    ...blank,
    ...(around !== undefined && {
      name: `around ${around.name}`.slice(0, maxName),
      dataset: around.dataset ?? '',
      ...(around.kind === 'train' && sizesOf(around)),
    }),
    config: config_id,
    args: String(!isVaried(spaces.false) && isVaried(spaces.true)),
    metric: criterion,
    goal: criterion_goal,
    method: 'tpe',
    trials: '20',
    parallel: '2',
  };
}

/** Maximum length of a sweep's name. */
const maxName = 128;

const sizesOf = ({ vcpus, memory, gpus, timeout }: Experiment) => ({
  vcpus: String(vcpus),
  memory: String(memory),
  gpus: gpus === 0 ? '' : String(gpus),
  timeout: String(timeout),
});

/** The command of the trials. The project's own one runs, even if the experiment had another. */
const Command = ({
  command,
  project_id,
  around,
}: {
  command: string;
  project_id: string;
  around: Experiment | undefined;
}) => (
  <p class="small after">
    <code>{command}</code>{' '}
    <a href={href(['projects', project_id, 'files'])}>Change the command, source or environment</a>
    {around?.command != null && around.command !== shownCommand(command) && (
      <span class="soft">
        {' '}
        <bdi>{around.name}</bdi> ran <code>{around.command}</code>.
      </span>
    )}
  </p>
);

function DatasetField({
  project_id,
  fields: { draft, faults, onChange },
}: {
  project_id: string;
  fields: Parameters<typeof fieldsOf>[0];
}) {
  const { data } = useLive(`datasets/${project_id}`, () => loadDatasets(project_id));
  const names = new Set([...(data ?? []).map(({ dataset }) => dataset), draft.dataset]);
  names.delete('');
  if (names.size === 0 && faults['dataset'] === undefined) return null;
  return (
    <SelectField
      label="Data set"
      error={faults['dataset']}
      options={{ '': 'none', ...Object.fromEntries([...names].map((name) => [name, name])) }}
      value={draft.dataset}
      onChoose={(dataset) => onChange({ dataset })}
    />
  );
}

/** What the sweep takes, or why it would be refused. */
function Cost({
  estimate,
  error,
  others,
}: {
  estimate: SweepEstimate | undefined;
  error: unknown;
  others: readonly string[];
}) {
  if (error !== undefined)
    return (
      <div class="cost" role="status">
        <p class="fault">
          {!(error instanceof ProblemError) || error.faults.length === 0
            ? problemText(error)
            : others.length > 0
              ? others.join('; ')
              : `${plural(error.faults.length, 'field')} to correct`}
        </p>
      </div>
    );
  if (estimate === undefined)
    return (
      <div class="cost" role="status">
        <p class="soft small">Calculating the cost…</p>
      </div>
    );
  const { experiments, hours, cost, seconds_each, from } = estimate;
  const about = from === 'timeout' ? 'at most' : 'about';
  return (
    <div class="cost" role="status">
      <p class="figure">{cost === null ? 'No cost' : `${about} ${costText(cost)}`}</p>
      <p class="soft small">
        {plural(experiments, 'training')},{' '}
        {from === 'timeout'
          ? `at most ${durationText(seconds_each)} each by the timeout: how long one takes is known once one has ended`
          : `about ${durationText(hours * 3600)}: ${durationText(seconds_each)} each, as earlier ones took`}
        {cost === null && '; free on this machine'}
      </p>
    </div>
  );
}
