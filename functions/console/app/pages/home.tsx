import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Experiment } from '../api/answers.ts';
import type { ListedProject } from '../api/projects.ts';
import {
  loadEnded,
  loadFailed,
  loadOwnCost,
  loadRecentProjects,
  loadUnfinished,
  maxLive,
  projectNames,
} from '../api/recent.ts';
import { ownRights } from '../api/rights.ts';
import { person } from '../api/session.ts';
import { useLive } from '../api/use-live.ts';
import { FirstSteps } from '../experiments/first-run.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { href } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { isFinal, RunStatus } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { causeText, costText, numberText, plural, runDurationText } from '../ui/text/format.ts';

type Row = Experiment;

const linkTo = ({ project_id, experiment_id }: Row): string =>
  href(['projects', project_id, 'experiments', experiment_id]);

type NameOf = (project_id: string) => string | Promise<string>;

/** Name of a project. The page knows those that it lists, and asks for others where an experiment of theirs is shown. */
function ProjectName({ id, nameOf }: { id: string; nameOf: NameOf }) {
  const known = nameOf(id);
  const [loaded, setLoaded] = useState('…');
  useEffect(() => {
    if (typeof known !== 'string') void known.then(setLoaded);
  }, [known]);
  return <bdi>{typeof known === 'string' ? known : loaded}</bdi>;
}

const Line = ({
  row,
  nameOf,
  hasStatus = true,
}: {
  row: Row;
  nameOf: NameOf;
  /** False below a heading that says it for all. */
  hasStatus?: boolean;
}) => (
  <li>
    <a class="line-link" href={linkTo(row)}>
      {hasStatus && (
        <span class="line-status">
          <RunStatus run={row} />
        </span>
      )}
      <span class="grow">
        <strong>
          <bdi>{row.name}</bdi>
        </strong>{' '}
        <span class="soft within">
          in <ProjectName id={row.project_id} nameOf={nameOf} />
        </span>
        {row.status === 'FAILED' && row.status_reason !== null && (
          <span class="why clamp">{causeText(row.status_reason)}</span>
        )}
        {!isFinal(row.status) && row.warnings.length > 0 && <span class="why clamp">{row.warnings[0]}</span>}
      </span>
      {row.best !== null && (
        <span class="soft number">
          {row.best.metric} {numberText(row.best.value)}
        </span>
      )}
      {!isFinal(row.status) && (
        <span class="only-wide">
          <Sparkline values={row.sparkline?.values ?? []} />
        </span>
      )}
      <span class="soft number only-wide">{runDurationText(row.duration)}</span>
      <span class="soft number">
        <Ago time={row.stopped_at ?? row.created_at} />
      </span>
    </a>
  </li>
);

/** Page of an empty service for users who may only read. */
const NothingYet = () => (
  <Empty title="There is nothing to see yet" icon="folder">
    <p>Experiments of your team appear here when somebody trains.</p>
  </Empty>
);

/** A part of the page, which loads, fails and is repeated by itself. */
function Part<T>({
  id,
  title,
  load,
  every,
  children,
}: {
  id: string;
  title: string;
  load: () => Promise<T>;
  every: number;
  children: (data: T) => ComponentChildren;
}) {
  const live = useLive(`home-${id}`, load, { every: () => every, isKept: true });
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <Loaded live={live} rows={3} what={`${title} could not be loaded`}>
        {children}
      </Loaded>
    </section>
  );
}

const usual = 20_000;
const often = 5_000;

/** Lines of experiments, or a sentence without any. */
const Lines = ({
  rows,
  nameOf,
  none,
  hasStatus = true,
}: {
  rows: readonly Row[];
  nameOf: NameOf;
  none: string;
  hasStatus?: boolean;
}) => {
  const [shown, more] = useShowMore(rows, 12, 'experiments');
  if (rows.length === 0) return <p class="soft">{none}</p>;
  return (
    <>
      <ul class="lines">
        {shown.map((row) => (
          <Line key={row.experiment_id} row={row} nameOf={nameOf} hasStatus={hasStatus} />
        ))}
      </ul>
      {more}
    </>
  );
};

/** What this month has cost, where compute has a price. It is no part of what the page is for, so it fails silently. */
function Cost() {
  const { data = 0 } = useLive('home-cost', () => loadOwnCost(person.value?.user_id ?? ''), {
    every: () => usual * 3,
    isKept: true,
  });
  return data === 0 ? null : (
    <p class="soft">
      Your cost this month: <strong>{costText(data)}</strong>
    </p>
  );
}

type Recent = { projects: readonly ListedProject[]; hasMore: boolean };

const Projects = ({ projects, hasMore }: Recent) => (
  <section aria-labelledby="projects">
    <h2 id="projects">Newest projects</h2>
    <ul class="lines">
      {projects.map((project) => (
        <li key={project.project_id}>
          <a class="line-link" href={href(['projects', project.project_id])}>
            <span class="grow">
              <strong>
                <bdi>{project.project_name}</bdi>
              </strong>{' '}
              <span class="soft clamp">{project.project_description}</span>
            </span>
            <span class="soft number">{plural(project.experiments, 'experiment')}</span>
            <span class="soft number">
              <Ago time={project.created_at} />
            </span>
          </a>
        </li>
      ))}
    </ul>
    {hasMore && <a href={href(['projects'])}>All projects</a>}
  </section>
);

function Overview({ projects, hasMore }: Recent) {
  const read = useMemo(projectNames, []);
  const nameOf: NameOf = (id) =>
    projects.find(({ project_id }) => project_id === id)?.project_name ?? read(id);
  const live = useLive('home-running', loadUnfinished, { every: () => often, isKept: true });
  // An experiment may end during the requests. Leave it out of the running ones.
  const running = (live.data ?? []).filter(({ status }) => !isFinal(status));
  const warned = running.filter(({ warnings }) => warnings.length > 0);
  return (
    <>
      <Part id="needs" title="Needs you" load={loadFailed} every={usual}>
        {(failed) => (
          <Lines rows={[...warned, ...failed]} nameOf={nameOf} none="Nothing has failed this week." />
        )}
      </Part>
      <section aria-labelledby="running">
        <h2 id="running">
          Running now{' '}
          {running.length > 0 && (
            <small class="soft">{running.length >= maxLive ? `${maxLive}+` : running.length}</small>
          )}
        </h2>
        <Loaded live={live} rows={3} what="Running now could not be loaded">
          {() => <Lines rows={running} nameOf={nameOf} none="No experiment is running." />}
        </Loaded>
      </section>
      <Part id="ended" title="Last ended" load={loadEnded} every={usual}>
        {(ended) => <Lines rows={ended} nameOf={nameOf} none="No experiment has ended yet." />}
      </Part>
      <Projects projects={projects} hasMore={hasMore} />
      <Cost />
    </>
  );
}

const hasRuns = ({ projects, hasMore }: Recent): boolean =>
  hasMore || projects.some(({ experiments }) => experiments > 0);

/** Home page: what needs somebody, what runs, what has ended. Each part is a request of its own. */
export function HomePage() {
  const live = useLive('home-projects', loadRecentProjects, {
    every: ({ projects }) => (projects.length === 0 ? often : usual),
    isKept: true,
  });
  // Older projects may be from before the first one. A first training makes its project, and later its experiment.
  const older = useRef(live.data);
  const isWaiting = useRef(false);
  if (live.data !== undefined && live.data !== older.current && !hasRuns(live.data))
    isWaiting.current = ownRights().mayCreate;
  return (
    <>
      <PageHead title="Home" />
      <Loaded live={live} rows={8} what="The projects could not be loaded">
        {(recent) =>
          isWaiting.current ? (
            <>
              <FirstSteps />
              {recent.projects.length > 0 && <Projects {...recent} />}
            </>
          ) : recent.projects.length > 0 ? (
            <Overview {...recent} />
          ) : recent === older.current ? null : (
            <NothingYet />
          )
        }
      </Loaded>
    </>
  );
}
