import { useState } from 'preact/hooks';
import type { Experiment, ProjectDetails } from '../../api/answers.ts';
import { loadExperiment } from '../../api/experiments.ts';
import {
  type Config,
  type ConfigFile,
  type Environment,
  loadConfigFile,
  loadConfigs,
  loadEnvironment,
} from '../../api/files.ts';
import { loadProject } from '../../api/projects.ts';
import { useRights } from '../../api/rights.ts';
import { useLive } from '../../api/use-live.ts';
import { MayNotTrain } from '../../project/may-not-train.tsx';
import { LinkButton } from '../../ui/controls/button.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { href, place } from '../../ui/router.ts';
import { Empty } from '../../ui/states/empty.tsx';
import { Loaded } from '../../ui/states/loaded.tsx';
import { SweepForm } from './sweep-form.tsx';

/** What a sweep is begun from. */
interface Inputs {
  project: ProjectDetails;
  configs: readonly Config[];
  environment: Environment | null;
  /** Experiment to search around. */
  around: Experiment | undefined;
}

/** Page to begin a sweep, around the experiment that the address names as `around`. */
export function SweepStartPage({ project_id }: { project_id: string }) {
  const experiment_id = place.value.query.get('around') ?? undefined;
  const { mayChange, isKnown } = useRights(project_id);
  const live = useLive(`sweep-inputs/${project_id}/${experiment_id}`, async (): Promise<Inputs> => {
    const [project, configs, environment, around] = await Promise.all([
      loadProject(project_id),
      loadConfigs(project_id),
      loadEnvironment(project_id),
      experiment_id === undefined ? undefined : loadExperiment({ project_id, experiment_id }),
    ]);
    return { project, configs, environment, around };
  });
  const around = live.data?.around;
  return (
    <>
      <PageHead
        trail={[
          { name: 'Projects', href: href(['projects']) },
          { name: live.data?.project.project_name ?? 'Project', href: href(['projects', project_id]) },
          { name: 'Sweeps', href: href(['projects', project_id, 'sweeps']) },
        ]}
        title={around === undefined ? 'Start a sweep' : `Sweep around ${around.name}`}
      />
      {isKnown && !mayChange ? (
        <MayNotTrain back={href(['projects', project_id])} />
      ) : (
        <Loaded live={live} rows={10} what="The project's inputs could not be loaded">
          {(inputs) => <Prepared {...inputs} />}
        </Loaded>
      )}
    </>
  );
}

/** The form, once there is a configuration and an environment. */
function Prepared({ project, configs, environment, around }: Inputs) {
  const { project_id } = project;
  const own = configs.find(({ config_id }) => config_id === around?.config_id) ?? configs[0];
  const [chosen, setChosen] = useState<string | undefined>(own?.config_id);
  const file = useLive(
    `file/${project_id}/${chosen}`,
    async (): Promise<ConfigFile | undefined> =>
      chosen === undefined ? undefined : loadConfigFile(project_id, chosen),
  );
  if (chosen === undefined || environment === null)
    return (
      <Empty title="A sweep repeats a training of this project" icon="play">
        <p>
          The project has no {chosen === undefined ? 'configuration' : 'environment'} yet. Start a training
          first, which asks for it.
        </p>
        <LinkButton href={href(['projects', project_id, 'start'])} kind="primary" icon="play">
          Start a training
        </LinkButton>
      </Empty>
    );
  return (
    <Loaded live={file} rows={10} what="The configuration could not be loaded">
      {(loaded) =>
        loaded !== undefined && (
          <SweepForm
            key={loaded.config_id}
            project={project}
            configs={configs}
            environment={environment}
            around={around}
            file={loaded}
            onConfig={setChosen}
          />
        )
      }
    </Loaded>
  );
}
