import { useEffect, useRef, useState } from 'preact/hooks';
import { mlflowUploadAssignments } from '../../../../shared/core/mlflow-upload-variables.ts';
import { loadNewest } from '../api/recent.ts';
import { person, serviceUrl } from '../api/session.ts';
import { useLive } from '../api/use-live.ts';
import { LinkButton } from '../ui/controls/button.tsx';
import { Command } from '../ui/controls/copy.tsx';
import { go, href } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';

const ways = ['Script', 'MLflow', 'Example', 'Import'] as const;

/**
 * Ways to a first experiment. The page opens it by itself.
 * @param project_id project that waits for one; undefined for a service without any
 */
export function FirstSteps({ project_id }: { project_id?: string }) {
  const [way, setWay] = useState<(typeof ways)[number]>('Script');
  return (
    <Empty title={project_id === undefined ? 'Run your first training' : 'No experiments yet'} icon="bolt">
      <div class="segments" role="group" aria-label="How to begin">
        {ways.map((name) => (
          <button key={name} type="button" aria-pressed={name === way} onClick={() => setWay(name)}>
            {name}
          </button>
        ))}
      </div>
      {way === 'Script' && <ScriptSteps project_id={project_id} />}
      {way === 'MLflow' && <MlflowSteps project_id={project_id} />}
      {way === 'Example' && <ExampleSteps project_id={project_id} />}
      {way === 'Import' && <ImportSteps project_id={project_id} />}
      {project_id === undefined && <OpenNewest />}
      <p class="waiting" role="status">
        Waiting for your first run. It opens here by itself.
      </p>
      <p class="soft small">
        Without a terminal:{' '}
        {project_id === undefined ? (
          <LinkButton href={href(['projects'], { new: '1' })} icon="plus">
            New project
          </LinkButton>
        ) : (
          <LinkButton href={href(['projects', project_id, 'start'])} icon="play">
            Start a training here
          </LinkButton>
        )}
      </p>
    </Empty>
  );
}

/** Open the first experiment that is begun while the page waits. */
function OpenNewest() {
  const { data } = useLive('home-newest', async () => (await loadNewest()) ?? null, { every: () => 3_000 });
  const isOpen = useRef(false);
  useEffect(() => {
    if (data === undefined || data === null || isOpen.current) return;
    isOpen.current = true;
    go(href(['projects', data.project_id, 'experiments', data.experiment_id]));
  }, [data]);
  return null;
}

const username = (): string => person.value?.username ?? 'admin';

const Install = () => (
  <>
    <Command>{`npm install -g ${serviceUrl}/cli/mps.tgz`}</Command>
    <Command>{`mps login ${serviceUrl} --user ${username()}`}</Command>
  </>
);

const inProject = (project_id: string | undefined): string =>
  project_id === undefined ? '' : ` -p ${project_id}`;

const ScriptSteps = ({ project_id }: { project_id: string | undefined }) => (
  <>
    <p>In the folder of your training program:</p>
    <Install />
    <Command>{`mps run${inProject(project_id)} -- python train.py`}</Command>
    <p class="soft small">What the program prints, such as “loss: 0.5”, becomes its metrics.</p>
  </>
);

const example = `mkdir -p hello && cd hello && cat > train.py <<'END'
import time
for step in range(30):
    print(f"step {step} loss: {1 / (step + 1):.4f} accuracy: {step / 30:.4f}")
    time.sleep(0.2)
END`;

const ExampleSteps = ({ project_id }: { project_id: string | undefined }) => (
  <>
    <p>A program of five lines, in a folder of its own:</p>
    <Install />
    <Command>{example}</Command>
    <Command>{`mps run${inProject(project_id)} -- python train.py`}</Command>
  </>
);

/** Return the lines that connect an MLflow client, to a project by ID because project names are not unique. */
const mlflowLines = (project_id: string | undefined): string =>
  [
    `export MLFLOW_TRACKING_URI=${serviceUrl}/mlflow`,
    ...(project_id === undefined ? [] : [`export MLFLOW_EXPERIMENT_ID=${project_id}`]),
    `export MLFLOW_TRACKING_USERNAME=${username()}`,
    ...mlflowUploadAssignments.map((assignment) => `export ${assignment}`),
    'read -rs MLFLOW_TRACKING_PASSWORD && export MLFLOW_TRACKING_PASSWORD',
  ].join('\n');

const MlflowSteps = ({ project_id }: { project_id: string | undefined }) => (
  <>
    <p>Your program stays as it is. Tell MLflow where to record:</p>
    <Command>{mlflowLines(project_id)}</Command>
    <Command>python train.py</Command>
    <p class="soft small">
      The last of the exports asks for your password. The two before it make MLflow send large files in parts.{' '}
      {username() === 'admin' && (
        <>
          On your own machine, the password of <code>admin</code> is in <code>.data/admin-password</code>.{' '}
        </>
      )}
      For programs, create a <a href={href(['account'])}>token</a> and set it as{' '}
      <code>MLFLOW_TRACKING_TOKEN</code> instead of user and password.
    </p>
  </>
);

/** Trackers that the command imports from, with a usual source of each. */
const sources = [
  ['W&B', 'wandb ./wandb'],
  ['Neptune', 'neptune ./exports'],
  ['TensorBoard', 'tensorboard ./runs'],
  ['MLflow', 'mlflow http://127.0.0.1:5000'],
  ['Trackio', 'trackio ~/.cache/huggingface/trackio'],
  ['Aim', 'aim ./.aim'],
  ['ClearML, offline', 'clearml ~/.clearml/cache/offline'],
  ['Comet, offline', 'comet ./offline'],
  ['mps.record, offline', 'offline'],
] as const;

const ImportSteps = ({ project_id }: { project_id: string | undefined }) => {
  const [tracker, setTracker] = useState<string>(sources[0][0]);
  const source = sources.find(([name]) => name === tracker)?.[1] ?? '';
  return (
    <>
      <label>
        Runs that you have in{' '}
        <select value={tracker} onChange={({ currentTarget }) => setTracker(currentTarget.value)}>
          {sources.map(([name]) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <Install />
      <Command>{`mps import --from ${source}${inProject(project_id)}`}</Command>
      <p class="soft small">
        They come with params, metrics, tags, files and status, without an account of the tracker. What cannot
        come is listed; <code>--dry-run</code> counts first. Run it again for what is new.
      </p>
    </>
  );
};
