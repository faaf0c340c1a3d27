import { useEffect, useState } from 'preact/hooks';
import { type Estimate, estimate, loadConfigs, loadEnvironment, train, trainRemote } from '../api/files.ts';
import { loadProject } from '../api/projects.ts';
import { useRights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { Configs } from '../project/configs.tsx';
import { Datasets } from '../project/datasets.tsx';
import { EnvironmentForm } from '../project/environment-form.tsx';
import { Source } from '../project/files-tab.tsx';
import { MayNotTrain } from '../project/may-not-train.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { Icon } from '../ui/icon.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { go, href } from '../ui/router.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { problemText } from '../ui/states/problem.tsx';
import { costText, durationText, sizeHint } from '../ui/text/format.ts';

type SizeName = 'vcpus' | 'memory' | 'gpus' | 'timeout' | 'nodes';
type Sizes = Readonly<Partial<Record<SizeName, string>>>;

/** Return the entered sizes. A training on one machine has no number of nodes. */
const given = (sizes: Sizes, isRemote: boolean): Record<string, string> =>
  Object.fromEntries(
    Object.entries(sizes).filter(([name, value]) => value.trim() !== '' && (isRemote || name !== 'nodes')),
  );

/** Load the maximum cost of a training, once the user stops typing. */
function useEstimate(project_id: string, sizes: Sizes, isRemote: boolean) {
  const [state, setState] = useState<{ estimate?: Estimate; fault?: string }>({});
  const key = JSON.stringify([given(sizes, isRemote), isRemote]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const query = { ...(isRemote && { nodes: '2' }), ...given(sizes, isRemote) };
      estimate(project_id, query as Parameters<typeof estimate>[1]).then(
        (found) => setState({ estimate: found }),
        (failure: unknown) => setState({ fault: problemText(failure) }),
      );
    }, 250);
    return () => clearTimeout(timer);
  }, [project_id, key]);
  return state;
}

const Step = ({
  number,
  title,
  isDone,
  children,
}: {
  number: number;
  title: string;
  isDone: boolean;
  children: preact.ComponentChildren;
}) => (
  <section class="panel step">
    <h2>
      <span class={isDone ? 'step-mark done' : 'step-mark'}>
        {isDone ? <Icon name="check" size={14} /> : number}
      </span>
      {title}
    </h2>
    {children}
  </section>
);

const sizeFields: readonly { name: Exclude<SizeName, 'nodes'>; label: string; unit: string }[] = [
  { name: 'vcpus', label: 'vCPUs', unit: '' },
  { name: 'memory', label: 'Memory', unit: 'MiB' },
  { name: 'gpus', label: 'GPUs', unit: '' },
  { name: 'timeout', label: 'Stop after', unit: 's' },
];

/**
 * Page to start a training: configuration, program, environment, data and size. It shows the cost before the
 * start.
 */
export function StartPage({ project_id }: { project_id: string }) {
  const project = useLive(`project/${project_id}`, () => loadProject(project_id));
  const { mayChange, isKnown } = useRights(project_id);
  const configs = useLive(`configs-of/${project_id}`, () => loadConfigs(project_id));
  const environment = useLive(`environment/${project_id}`, () => loadEnvironment(project_id));
  const [chosen, setChosen] = useState<string>();
  const [dataset, setDataset] = useState<string>();
  const [hasProgram, setProgram] = useState(false);
  const [isConfigUnsaved, setConfigUnsaved] = useState(false);
  const [isEnvironmentUnsaved, setEnvironmentUnsaved] = useState(false);
  const config = chosen ?? configs.data?.[0]?.config_id;
  // A training reads what is stored, not what stands in the fields.
  const missing = [
    ...(configs.data !== undefined && config === undefined ? ['a configuration'] : []),
    ...(config !== undefined && isConfigUnsaved ? ['the changed configuration'] : []),
    ...(environment.data === null ? ['an environment'] : []),
    ...(isEnvironmentUnsaved ? ['the changed environment'] : []),
  ];
  return (
    <>
      <PageHead
        trail={[
          { name: 'Projects', href: href(['projects']) },
          { name: project.data?.project_name ?? 'Project', href: href(['projects', project_id]) },
        ]}
        title="Start a training"
      />
      {isKnown && !mayChange ? (
        <MayNotTrain back={href(['projects', project_id])} />
      ) : (
        <div class="split">
          <div>
            <Step number={1} title="Configuration" isDone={config !== undefined}>
              <Configs
                project_id={project_id}
                mayChange
                chosen={config}
                onUnsaved={setConfigUnsaved}
                onChoose={(id) => {
                  setChosen(id);
                  void configs.refresh();
                }}
              />
            </Step>
            <Step number={2} title="Program" isDone={hasProgram}>
              <Source project_id={project_id} mayChange onFound={setProgram} />
            </Step>
            <Step number={3} title="Environment" isDone={environment.data != null}>
              <Loaded live={environment} what="The environment could not be loaded">
                {(found) => (
                  <EnvironmentForm
                    project_id={project_id}
                    environment={found}
                    onSaved={environment.set}
                    onUnsaved={setEnvironmentUnsaved}
                  />
                )}
              </Loaded>
            </Step>
            <Step number={4} title="Data (optional)" isDone={dataset !== undefined}>
              <Datasets project_id={project_id} mayChange chosen={dataset} onChoose={setDataset} />
            </Step>
          </div>
          <Launch {...{ project_id, config, dataset, missing }} />
        </div>
      )}
    </>
  );
}

/** Where and on what size the training runs, what it costs, and its start. */
function Launch({
  project_id,
  config,
  dataset,
  missing,
}: {
  project_id: string;
  config: string | undefined;
  dataset: string | undefined;
  /** What must be stored first. */
  missing: readonly string[];
}) {
  const [isRemote, setRemote] = useState(false);
  const [sizes, setSizes] = useState<Sizes>({});
  const { estimate: cost, fault } = useEstimate(project_id, sizes, isRemote);
  const begin = async () => {
    const query = { ...given(sizes, isRemote), ...(dataset !== undefined && { dataset }) };
    const begun = isRemote
      ? await trainRemote(project_id, { ...query, ...(config !== undefined && { config }) })
      : await train(project_id, { ...query, config: config ?? '' });
    go(href(['projects', project_id, 'experiments', begun.experiment_id], { tab: 'log' }));
  };
  return (
    <aside class="launch" aria-label="Size and start">
      <section class="panel">
        <h2>Size</h2>
        <Form
          action={isRemote ? 'Train on the cluster' : 'Train'}
          isReady={missing.length === 0}
          onSubmit={begin}
          wide
        >
          <fieldset class="choice">
            <legend>Where</legend>
            <label class="check">
              <input type="radio" name="where" checked={!isRemote} onChange={() => setRemote(false)} />
              One machine
            </label>
            <label class="check">
              <input type="radio" name="where" checked={isRemote} onChange={() => setRemote(true)} />A cluster
            </label>
          </fieldset>
          <div class="field-row two">
            {isRemote && (
              <TextField
                label="Nodes"
                inputMode="numeric"
                placeholder="2"
                value={sizes.nodes ?? ''}
                onText={(text) => setSizes({ ...sizes, nodes: text })}
              />
            )}
            {sizeFields.map(({ name, label, unit }) => (
              <TextField
                key={name}
                label={unit === '' ? label : `${label} (${unit})`}
                inputMode="decimal"
                placeholder={cost === undefined ? '' : String(cost[name])}
                hint={sizeHint(name, sizes[name] || String(cost?.[name] ?? ''))}
                value={sizes[name] ?? ''}
                onText={(text) => setSizes({ ...sizes, [name]: text })}
              />
            ))}
          </div>
          <div class="cost" role="status">
            {fault !== undefined ? (
              <p class="fault">{fault}</p>
            ) : cost === undefined ? (
              <p class="soft small">Calculating the cost…</p>
            ) : (
              <>
                <p class="figure">
                  {cost.cost_estimate === null ? 'No cost' : `at most ${costText(cost.cost_estimate)}`}
                </p>
                <p class="soft small">
                  {cost.nodes > 1 && `${cost.nodes} nodes of `}
                  {cost.vcpus} vCPU, {(cost.memory / 1024).toFixed(1)} GiB
                  {cost.gpus > 0 && `, ${cost.gpus} GPU`}, stopped after {durationText(cost.timeout)}
                  {cost.cost_estimate === null && '; free on this machine'}
                </p>
              </>
            )}
          </div>
          {missing.length > 0 ? (
            <p class="soft small">Save {missing.join(' and ')} first.</p>
          ) : (
            <p class="soft small">
              Trains with <strong>{config}</strong>
              {dataset !== undefined && (
                <>
                  {' '}
                  on <strong>{dataset}</strong>
                </>
              )}
              .
            </p>
          )}
        </Form>
      </section>
    </aside>
  );
}
