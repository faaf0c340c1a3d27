import { useMemo } from 'preact/hooks';
import { foldTrials } from '../../../../shared/sweeps/fold-trials.ts';
import { loadProject } from '../api/projects.ts';
import { useRights } from '../api/rights.ts';
import { loadSweep, type Sweep } from '../api/sweeps.ts';
import { useLive } from '../api/use-live.ts';
import { useBrushes } from '../charts/parallel/use-brushes.ts';
import { ShareButton } from '../project/share-button.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { href } from '../ui/router.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { Status } from '../ui/states/status.tsx';
import { plural } from '../ui/text/format.ts';
import { LongText } from '../ui/text/long-text.tsx';
import { BestSoFar } from './best-so-far.tsx';
import { SweepActions } from './sweep-actions.tsx';
import { SweepFacts, SweepFigures } from './sweep-facts.tsx';
import { isLive } from './sweep-text.ts';
import { axesOfTrials, TrialCharts } from './trial-charts.tsx';
import { trialOf } from './trial-columns.tsx';
import { TrialsTable } from './trials-table.tsx';
import { useTrials } from './use-trials.ts';

/** Page of one sweep. */
export function SweepPage({ project_id, sweep_id }: { project_id: string; sweep_id: string }) {
  const project = useLive(`project/${project_id}`, () => loadProject(project_id), { isKept: true });
  const { mayChange, mayOwn } = useRights(project_id);
  const live = useLive(`sweep/${sweep_id}`, () => loadSweep({ project_id, sweep_id }), {
    every: (sweep) => (isLive(sweep) ? 2_000 : 20_000),
  });
  const trail = [
    { name: 'Projects', href: href(['projects']) },
    { name: project.data?.project_name ?? 'Project', href: href(['projects', project_id]) },
    { name: 'Sweeps', href: href(['projects', project_id, 'sweeps']) },
  ];
  return (
    <Loaded live={live} rows={10} page={{ what: 'sweep', trail }}>
      {(sweep) => (
        <Content sweep={sweep} trail={trail} mayChange={mayChange} mayOwn={mayOwn} onChange={live.set} />
      )}
    </Loaded>
  );
}

function Content({
  sweep,
  trail,
  mayChange,
  mayOwn,
  onChange,
}: {
  sweep: Sweep;
  trail: readonly { name: string; href: string }[];
  mayChange: boolean;
  mayOwn: boolean;
  onChange: (next: Sweep) => void;
}) {
  const { project_id, sweep_id, name, status, status_reason, repeats } = sweep;
  const { rows, isComplete, error } = useTrials(sweep);
  const trials = useMemo(() => foldTrials(rows, { repeats, status }).map(trialOf), [rows, repeats, status]);
  const axes = useMemo(() => axesOfTrials(sweep, trials), [trials, JSON.stringify(sweep.parameters)]);
  const { brushes, chosen } = useBrushes(axes.all, trials.length);
  const shown = useMemo(() => trials.filter((_, index) => chosen[index]), [trials, chosen]);
  return (
    <>
      <PageHead
        trail={trail}
        title={name}
        below={
          <div class="under-title">
            <Status status={status} large />
            {status_reason !== null && (
              <p class={status === 'FAILED' ? 'reason bad' : 'reason'}>
                <LongText text={status_reason} />
              </p>
            )}
          </div>
        }
      >
        {mayChange && <SweepActions sweep={sweep} onChange={onChange} />}
        {mayOwn && <ShareButton project_id={project_id} subject={{ kind: 'sweep', sweep_id }} />}
      </PageHead>
      <SweepFigures sweep={sweep} />
      {rows.length === 0 ? (
        <Nothing sweep={sweep} isComplete={isComplete} error={error} />
      ) : (
        <>
          <div class="split">
            <BestSoFar sweep={sweep} trials={trials} />
            <aside aria-label="About the sweep">
              <SweepFacts sweep={sweep} />
            </aside>
          </div>
          <TrialCharts sweep={sweep} trials={trials} axes={axes} brushes={brushes} chosen={chosen} />
          <TrialsTable
            sweep={sweep}
            trials={shown}
            all={trials.length}
            isComplete={isComplete}
            error={error}
          />
        </>
      )}
    </>
  );
}

function Nothing({ sweep, isComplete, error }: { sweep: Sweep; isComplete: boolean; error: unknown }) {
  if (error !== undefined) return <Problem error={error} what="The trials could not be loaded" />;
  if (!isComplete) return <Skeleton rows={8} />;
  return (
    <>
      <p class="soft hint-line">
        {sweep.method === 'external'
          ? 'No trial yet: a program asks for each one.'
          : sweep.status === 'RUNNING'
            ? `No trial yet. The first of ${plural(sweep.trials, 'trial')} begins in a moment.`
            : 'No trial was begun.'}
      </p>
      <SweepFacts sweep={sweep} />
    </>
  );
}
