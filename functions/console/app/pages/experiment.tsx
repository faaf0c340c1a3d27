import { useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import type { JudgedBy } from '../../../../shared/metrics/criteria.ts';
import type { Experiment, ProjectDetails } from '../api/answers.ts';
import { deleteRuns, restoreRuns } from '../api/deletions.ts';
import { cancel, changeExperiment, loadExperiment, loadForChange } from '../api/experiments.ts';
import { loadProject } from '../api/projects.ts';
import { useRights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { Curves } from '../charts/curves.tsx';
import { drawableWithMachine } from '../charts/reading/drawable.ts';
import type { PointFeed } from '../charts/reading/point-feed.ts';
import { ArtifactsTab } from '../experiment/artifacts-tab.tsx';
import { ConfigTab } from '../experiment/config-tab.tsx';
import { EditDialog } from '../experiment/edit-dialog.tsx';
import { ExportPanel } from '../experiment/export-panel.tsx';
import { Facts, isOfMlflow, Params, Timeline } from '../experiment/facts.tsx';
import { Figures } from '../experiment/figures.tsx';
import { LogTab } from '../experiment/log/log-tab.tsx';
import { Machine } from '../experiment/machine.tsx';
import { RerunDialog } from '../experiment/rerun-dialog.tsx';
import { RunRules } from '../experiment/run-rules.tsx';
import { useFollowed } from '../experiment/use-followed.ts';
import { Warnings } from '../experiment/warnings.tsx';
import { WatchButton } from '../experiment/watch-button.tsx';
import { forgetRow } from '../experiments/kept-rows.ts';
import { useHasMedia } from '../media/has-media.ts';
import { MediaView } from '../media/lazy-media.ts';
import { MadeModels } from '../models/lineage/made-models.tsx';
import { byName } from '../preview/preview-file.ts';
import { ShareButton } from '../project/share-button.tsx';
import { ChartToReport } from '../reports/chart-to-report.tsx';
import { NeighbourButtons } from '../runs/neighbour-buttons.tsx';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { Confirm } from '../ui/controls/dialog.tsx';
import { Tabs } from '../ui/controls/tabs.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { go, goOn, href, place } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { tell } from '../ui/states/notice.tsx';
import { isFinal, RunStatus } from '../ui/states/status.tsx';
import { LongText } from '../ui/text/long-text.tsx';
import { Markdown } from '../ui/text/markdown.tsx';

type DialogName = 'edit' | 'rerun' | 'smaller' | 'cancel' | 'delete';

/** Media is the last tab, because it appears once its pictures are found: no other tab moves. */
const tabsOf = ({ kind, artifacts }: Experiment, hasMedia: boolean): { id: string; name: string }[] => [
  { id: 'overview', name: 'Overview' },
  ...(kind === 'logged'
    ? []
    : [
        { id: 'log', name: 'Log' },
        { id: 'config', name: 'Configuration' },
      ]),
  { id: 'artifacts', name: artifacts > 0 ? `Artifacts (${artifacts.toLocaleString('en')})` : 'Artifacts' },
  ...(hasMedia ? [{ id: 'media', name: 'Media' }] : []),
];

/** Tags above the tabs before the user asks for the others: two lines of a wide window. */
const maxTags = 12;

const Tags = ({ tags }: { tags: Experiment['tags'] }) => {
  // Those that MLflow sets itself stand among the details.
  const userTags = Object.entries(tags)
    .filter(([tag]) => !isOfMlflow(tag))
    .sort(([a], [b]) => byName(a, b));
  const [shown, more] = useShowMore(userTags, maxTags, 'tags');
  if (shown.length === 0) return null;
  return (
    <>
      <ul class="chips" aria-label="Tags">
        {shown.map(([tag, value]) => (
          <li key={tag} class="chip" title={value === '' ? tag : `${tag}: ${value}`}>
            <bdi>{tag}</bdi>
            {value !== '' && (
              <>
                : <bdi>{value}</bdi>
              </>
            )}
          </li>
        ))}
      </ul>
      {more}
    </>
  );
};

/** Whether the log is all there is to see of a run: an export, or one that ended before it reported anything. */
const hasLogAlone = ({ kind, status, metrics, model_export }: Experiment): boolean =>
  kind !== 'logged' && Object.keys(metrics).length === 0 && (isFinal(status) || model_export !== null);

const Overview = ({
  experiment,
  feed,
  judge,
  onChange,
  onEdit,
  onSmaller,
}: {
  experiment: Experiment;
  feed: PointFeed;
  judge: JudgedBy | undefined;
  onChange: (next: Experiment) => void;
  onEdit: (() => void) | undefined;
  onSmaller: (() => void) | undefined;
}) => (
  <div class="split">
    <div class="grow">
      <Figures experiment={experiment} />
      {experiment.model_export !== null && (
        <ExportPanel project_id={experiment.project_id} model_export={experiment.model_export} />
      )}
      {experiment.best === null &&
        experiment.best_reason !== null &&
        Object.keys(experiment.metrics).length > 0 && (
          <p class="soft small hint-line">
            {experiment.best_reason}{' '}
            {onEdit && <a href={href(['projects', experiment.project_id, 'settings'])}>Choose the metric</a>}
          </p>
        )}
      <Warnings experiment={experiment} />
      <Machine experiment={experiment} onSmaller={onSmaller} />
      {hasLogAlone(experiment) ? (
        <LogTab experiment={experiment} onChange={onChange} />
      ) : (
        <ChartToReport project_id={experiment.project_id} mayChange={onEdit !== undefined}>
          <Curves experiments={[drawableWithMachine(experiment)]} feed={feed} judge={judge} />
        </ChartToReport>
      )}
    </div>
    <aside aria-label="About the experiment">
      {(experiment.note !== null || onEdit !== undefined) && (
        <section class="panel">
          <div class="panel-head">
            <h2>Note</h2>
            {onEdit && (
              <Button kind="quiet" onClick={onEdit}>
                Edit
              </Button>
            )}
          </div>
          {experiment.note === null || experiment.note === '' ? (
            <p class="soft small">Describe the attempt and its result</p>
          ) : (
            <Markdown text={experiment.note} />
          )}
        </section>
      )}
      <MadeModels experiment={experiment} />
      <Params experiment={experiment} />
      <RunRules experiment={experiment} />
      <Timeline experiment={experiment} />
      <Facts experiment={experiment} />
    </aside>
  </div>
);

function Content({
  experiment,
  project,
  onChange,
  onWithheld,
}: {
  experiment: Experiment;
  project: ProjectDetails | undefined;
  onChange: (next: Experiment) => void;
  /** Called when the service no longer shows the experiment. */
  onWithheld: () => void;
}) {
  const [dialog, setDialog] = useState<DialogName>();
  const { project_id, experiment_id, status, status_reason, tags, name } = experiment;
  const wanted = place.value.query.get('tab');
  const hasMedia = useHasMedia(experiment);
  const tabs = tabsOf(experiment, hasMedia || wanted === 'media');
  const tab = tabs.find(({ id }) => id === wanted)?.id ?? 'overview';
  const { mayChange, mayOwn } = useRights(project_id);
  // The log brings the state, too.
  const feed = useFollowed(experiment, {
    isOn: tab !== 'log' && !(tab === 'overview' && hasLogAlone(experiment)),
    onChange,
    onWithheld,
  });
  return (
    <>
      <PageHead
        trail={trailTo(project_id, project?.project_name)}
        title={name}
        part={tabs.find(({ id }) => id === tab && id !== 'overview')?.name}
        below={
          <div class="under-title">
            <RunStatus run={experiment} large />
            {status_reason !== null && (
              <p class={status === 'FAILED' ? 'reason bad' : 'reason'}>
                <LongText text={status_reason} />
              </p>
            )}
            <Tags tags={tags} />
          </div>
        }
      >
        <Actions experiment={experiment} mayChange={mayChange} mayOwn={mayOwn} onDialog={setDialog} />
      </PageHead>
      <Tabs
        label="Experiment"
        current={tab}
        tabs={tabs.map((one) => ({
          ...one,
          href: href(['projects', project_id, 'experiments', experiment_id], { tab: one.id }),
        }))}
      />
      {tab === 'log' && <LogTab experiment={experiment} onChange={onChange} />}
      {tab === 'config' && <ConfigTab experiment={experiment} />}
      {tab === 'media' && (
        <MediaView project_id={project_id} experiments={[experiment]} isRunning={!isFinal(status)} />
      )}
      {tab === 'artifacts' && <ArtifactsTab experiment={experiment} />}
      {tab === 'overview' && (
        <Overview
          experiment={experiment}
          feed={feed}
          onChange={onChange}
          judge={project && { name: project.criterion, goal: project.criterion_goal }}
          onEdit={mayChange ? () => setDialog('edit') : undefined}
          onSmaller={mayChange ? () => setDialog('smaller') : undefined}
        />
      )}
      <Dialogs
        dialog={dialog}
        experiment={experiment}
        onChange={onChange}
        onClose={() => setDialog(undefined)}
      />
    </>
  );
}

/** Pages above an experiment. */
const trailTo = (project_id: string, project_name: string | undefined) => [
  { name: 'Projects', href: href(['projects']) },
  { name: project_name ?? 'Project', href: href(['projects', project_id]) },
];

/** Buttons of the page's head. */
function Actions({
  experiment: { project_id, experiment_id, kind, status },
  mayChange,
  mayOwn,
  onDialog,
}: {
  experiment: Experiment;
  mayChange: boolean;
  mayOwn: boolean;
  onDialog: (name: DialogName) => void;
}) {
  const ended = isFinal(status);
  return (
    <>
      <NeighbourButtons project_id={project_id} experiment_id={experiment_id} />
      {!ended && <WatchButton project_id={project_id} experiment_id={experiment_id} />}
      {mayChange && !ended && (
        <Button kind="danger" icon="stop" onClick={() => onDialog('cancel')}>
          Cancel
        </Button>
      )}
      {mayChange && kind !== 'logged' && (
        <Button
          icon="again"
          kind={ended ? 'primary' : 'plain'}
          disabled={!ended}
          onClick={() => onDialog('rerun')}
        >
          Run again
        </Button>
      )}
      {mayChange && kind !== 'logged' && (
        <LinkButton
          href={href(['projects', project_id, 'sweeps', 'new'], { around: experiment_id })}
          icon="chart"
        >
          Sweep around this
        </LinkButton>
      )}
      {mayChange && (
        <Button icon="tag" onClick={() => onDialog('edit')}>
          Edit
        </Button>
      )}
      {mayOwn && <ShareButton project_id={project_id} subject={{ kind: 'experiment', experiment_id }} />}
      {mayChange && ended && (
        <Button kind="danger" icon="trash" label="Delete the experiment" onClick={() => onDialog('delete')} />
      )}
    </>
  );
}

/** Dialog that is open, if any. */
function Dialogs({
  dialog,
  experiment,
  onChange,
  onClose,
}: {
  dialog: DialogName | undefined;
  experiment: Experiment;
  onChange: (next: Experiment) => void;
  onClose: () => void;
}) {
  const { project_id, experiment_id, kind, name } = experiment;
  const path = { project_id, experiment_id };
  return (
    <>
      {dialog === 'edit' && <EditDialog path={path} onChange={onChange} onClose={onClose} />}
      {(dialog === 'rerun' || dialog === 'smaller') && (
        <RerunDialog
          experiment={experiment}
          advised={dialog === 'smaller' ? (experiment.system?.advice ?? undefined) : undefined}
          onClose={onClose}
        />
      )}
      {dialog === 'cancel' && (
        <Confirm
          title="Cancel this experiment?"
          action="Cancel the experiment"
          onConfirm={async () => onChange(kind === 'logged' ? await endLogged(path) : await cancel(path))}
          onClose={onClose}
        >
          <p>It stops. Its log, metrics and artifacts so far stay.</p>
        </Confirm>
      )}
      {dialog === 'delete' && (
        <Confirm
          title="Delete this experiment?"
          action="Delete"
          onConfirm={async () => {
            await deleteRuns(project_id, [experiment_id]);
            forgetRow(project_id, experiment_id);
            goOn(href(['projects', project_id]));
            tell('The experiment is deleted, restorable for 30 days.', false, {
              name: 'Undo',
              async act() {
                await restoreRuns(project_id, [experiment_id]);
                go(href(['projects', project_id, 'experiments', experiment_id]));
              },
            });
          }}
          onClose={onClose}
        >
          <p>
            <bdi>{name}</bdi> is deleted with its log, metrics and {bytesText(experiment.artifact_bytes)} of
            artifacts. It can be restored for 30 days.
          </p>
        </Confirm>
      )}
    </>
  );
}

async function endLogged(path: { project_id: string; experiment_id: string }): Promise<Experiment> {
  const { tag } = await loadForChange(path);
  return changeExperiment(path, { status: 'CANCELLED' }, tag);
}

/** Whether an export has ended and what follows has neither begun nor failed. Live answers end with the export. */
const isStepDue = ({ status, model_export }: Experiment): boolean =>
  status === 'SUCCEEDED' &&
  model_export !== null &&
  model_export.strategy_id === null &&
  model_export.reason === null;
const stepMilliseconds = 4_000;

/** Page of one experiment. */
export function ExperimentPage({ project_id, experiment_id }: { project_id: string; experiment_id: string }) {
  const project = useLive(`project/${project_id}`, () => loadProject(project_id));
  const live = useLive(`experiment/${experiment_id}`, () => loadExperiment({ project_id, experiment_id }), {
    every: (experiment) => (isStepDue(experiment) ? stepMilliseconds : undefined),
  });
  return (
    <Loaded
      live={live}
      rows={10}
      page={{ what: 'experiment', trail: trailTo(project_id, project.data?.project_name) }}
    >
      {(experiment) => (
        <Content
          key={experiment_id}
          experiment={experiment}
          project={project.data}
          onChange={live.set}
          onWithheld={live.refresh}
        />
      )}
    </Loaded>
  );
}
