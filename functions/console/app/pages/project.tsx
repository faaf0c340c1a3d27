import { useState } from 'preact/hooks';
import type { ProjectDetails } from '../api/answers.ts';
import { loadProject, setBaseline, setCriterion } from '../api/projects.ts';
import { useRights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { ExperimentsTab } from '../experiments/experiments-tab.tsx';
import type { Judge } from '../experiments/sort-rows.ts';
import { ChartToReport } from '../reports/chart-to-report.tsx';
import { NewReport } from '../reports/new-report.tsx';
import { LinkButton } from '../ui/controls/button.tsx';
import { Tabs } from '../ui/controls/tabs.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { href, place, setQuery } from '../ui/router.ts';
import { lazy } from '../ui/states/lazy.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt, tell } from '../ui/states/notice.tsx';

const SettingsTab = lazy(() => import('../project/settings-tab.tsx').then((module) => module.SettingsTab));
const SweepsTab = lazy(() => import('../sweeps/sweeps-tab.tsx').then((module) => module.SweepsTab));
const ReportsTab = lazy(() => import('../reports/reports-tab.tsx').then((module) => module.ReportsTab));
const FilesTab = lazy(() => import('../project/files-tab.tsx').then((module) => module.FilesTab));

interface Named {
  experiment_id: string;
  name: string;
}

const tabs = [
  { id: 'experiments', name: 'Experiments' },
  { id: 'sweeps', name: 'Sweeps' },
  { id: 'reports', name: 'Reports' },
  { id: 'files', name: 'Configurations and data' },
  { id: 'settings', name: 'Settings' },
];

function Content({
  project,
  tab,
  onChange,
}: {
  project: ProjectDetails;
  tab: string;
  onChange: () => Promise<void>;
}) {
  const { project_id } = project;
  const rights = useRights(project_id, project);
  // Nobody has set a command, and there are experiments: their programs run elsewhere.
  const isRecorded = project.environment === null && project.experiments > 0;
  const judge: Judge = { name: project.criterion, goal: project.criterion_goal };
  /** Criterion that was chosen and is being stored. */
  const [wanted, setWanted] = useState<Judge>();
  const judgeBy = async (next: Judge, isUndo = false): Promise<void> => {
    setWanted(next);
    const isStored = await attempt(async () => {
      await setCriterion(project_id, next);
      await onChange();
    });
    setWanted(undefined);
    if (isStored && !isUndo)
      tell(`Everybody sees the experiments ranked by ${next.name} now.`, false, {
        name: 'Undo',
        act: () => judgeBy(judge, true),
      });
  };
  /** Set the baseline: in the project if the user may change it, else in the address only. */
  const compareWith = async (next: Named | undefined, isUndo = false): Promise<void> => {
    if (!rights.mayChange) return setQuery({ baseline: next?.experiment_id ?? 'none' });
    const former = project.baseline;
    const isStored = await attempt(async () => {
      await setBaseline(project_id, next?.experiment_id ?? null);
      await onChange();
    });
    setQuery({ baseline: undefined });
    if (!isStored || isUndo) return;
    const text =
      next === undefined ? 'No baseline any more.' : `Everybody sees differences from ${next.name} now.`;
    tell(text, false, {
      name: 'Undo',
      act: () => compareWith(former === null ? undefined : { experiment_id: former, name: '' }, true),
    });
  };
  return (
    <>
      <PageHead
        trail={[{ name: 'Projects', href: href(['projects']) }]}
        title={project.project_name}
        part={tabs.find(({ id }) => id === tab && id !== 'experiments')?.name}
        tabs={
          <Tabs
            label="Project"
            current={tab}
            tabs={tabs.map(({ id, name }) => ({ id, name, href: href(['projects', project_id, id]) }))}
          />
        }
      >
        {rights.mayChange &&
          (tab === 'sweeps' ? (
            <LinkButton href={href(['projects', project_id, 'sweeps', 'new'])} icon="play" kind="primary">
              Start a sweep
            </LinkButton>
          ) : tab === 'reports' ? (
            <NewReport project_id={project_id} />
          ) : (
            <LinkButton
              href={href(['projects', project_id, 'start'])}
              icon="play"
              kind={isRecorded ? 'plain' : 'primary'}
            >
              Start a training
            </LinkButton>
          ))}
      </PageHead>
      {tab === 'settings' ? (
        <SettingsTab project={project} rights={rights} onChange={onChange} />
      ) : tab === 'sweeps' ? (
        <SweepsTab project_id={project_id} mayChange={rights.mayChange} />
      ) : tab === 'reports' ? (
        <ReportsTab project_id={project_id} mayChange={rights.mayChange} />
      ) : tab === 'files' ? (
        <FilesTab project={project} mayChange={rights.mayChange} />
      ) : (
        <ChartToReport project_id={project_id} mayChange={rights.mayChange}>
          <ExperimentsTab
            project_id={project_id}
            total={project.experiments}
            rights={rights}
            views={project.views}
            onViews={onChange}
            baseline={place.value.query.get('baseline') ?? project.baseline ?? undefined}
            onBaseline={(next) => void compareWith(next)}
            judge={wanted ?? judge}
            onJudge={(next) => void judgeBy(next)}
          />
        </ChartToReport>
      )}
    </>
  );
}

/** Page of one project: experiments, files and settings. */
export function ProjectPage({ project_id, tab }: { project_id: string; tab: string }) {
  // Show kept data to a user who returns to the table. Settings always need the present state.
  const live = useLive(`project/${project_id}`, () => loadProject(project_id), {
    isKept: tab === 'experiments',
  });
  return (
    <Loaded
      live={live}
      rows={10}
      page={{ what: 'project', trail: [{ name: 'Projects', href: href(['projects']) }] }}
    >
      {(project) => <Content project={project} tab={tab} onChange={live.refresh} />}
    </Loaded>
  );
}
