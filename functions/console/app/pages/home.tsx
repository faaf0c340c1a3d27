import { useEffect } from 'preact/hooks';
import { loadRecent, type Recent } from '../api/recent.ts';
import { ownRights } from '../api/rights.ts';
import { person, serviceUrl } from '../api/session.ts';
import { useLive } from '../api/use-live.ts';
import { loadBestSparkline, sparklineOf } from '../experiments/sparklines.ts';
import { LinkButton } from '../ui/controls/button.tsx';
import { Command } from '../ui/controls/copy.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { href } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { isFinal, RunStatus } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { causeText, costText, durationText, numberText, plural, runDurationText } from '../ui/text/format.ts';

type Row = Recent['live'][number];

const linkTo = ({ project_id, experiment_id }: Row): string =>
  href(['projects', project_id, 'experiments', experiment_id]);

const Course = ({ row }: { row: Row }) => {
  useEffect(() => loadBestSparkline(row), [row.best?.metric, row.best?.value]);
  return <Sparkline values={sparklineOf(row.experiment_id).value} />;
};

const RunningCards = ({ rows, nameOf }: { rows: readonly Row[]; nameOf: (id: string) => string }) => (
  <ul class="cards">
    {rows.map((row) => (
      <li key={row.experiment_id}>
        <a class="card link" href={linkTo(row)}>
          <span class="card-top">
            <RunStatus run={row} />
            <span class="soft small">
              <Ago time={row.started_at ?? row.created_at} />
            </span>
          </span>
          <strong class="clamp" title={row.name}>
            <bdi>{row.name}</bdi>
          </strong>
          <span class="soft small ellipsis">
            <bdi>{nameOf(row.project_id)}</bdi>
          </span>
          {row.best === null ? (
            <span class="soft small clamp">{row.status_reason ?? 'No value yet'}</span>
          ) : (
            <span class="figure with-course">
              <span>
                {numberText(row.best.value)} <small>{row.best.metric}</small>
              </span>
              <Course row={row} />
            </span>
          )}
        </a>
      </li>
    ))}
  </ul>
);

function Running({ rows, nameOf }: { rows: readonly Row[]; nameOf: (id: string) => string }) {
  const [shown, more] = useShowMore(rows, 12, 'that run');
  return (
    <>
      <RunningCards rows={shown} nameOf={nameOf} />
      {more}
    </>
  );
}

const Line = ({
  row,
  nameOf,
  hasStatus = true,
}: {
  row: Row;
  nameOf: (id: string) => string;
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
        <span class="soft">
          in <bdi>{nameOf(row.project_id)}</bdi>
        </span>
        {row.status === 'FAILED' && row.status_reason !== null && (
          <span class="why clamp">{causeText(row.status_reason)}</span>
        )}
      </span>
      {row.best !== null && (
        <span class="soft number">
          {row.best.metric} {numberText(row.best.value)}
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

/** First three commands for a new service. */
const FirstSteps = () => (
  <Empty title="No experiments yet. Start one with three commands" icon="bolt">
    <p>In the folder of your training program:</p>
    <Command>{`npm install -g ${serviceUrl}/cli/mps.tgz`}</Command>
    <Command>{`mps login ${serviceUrl} --user ${person.value?.username ?? 'admin'}`}</Command>
    <Command>mps run -- python train.py</Command>
    <p>Or start here, without a terminal:</p>
    <LinkButton href={href(['projects'], { new: '1' })} icon="plus" kind="primary">
      New project
    </LinkButton>
  </Empty>
);

function Overview({ recent }: { recent: Recent }) {
  const nameOf = (id: string) =>
    recent.projects.find(({ project_id }) => project_id === id)?.project_name ?? id;
  const { failed, ended } = recent;
  // An experiment may end during the requests. Leave it out of the running ones.
  const running = recent.live.filter(({ status }) => !isFinal(status));
  if (recent.projects.length === 0) return ownRights().mayCreate ? <FirstSteps /> : <NothingYet />;
  return (
    <>
      <dl class="figures">
        <div>
          <dt>Running now</dt>
          <dd>{running.length === 50 ? 'over 50' : running.length}</dd>
        </div>
        <div>
          <dt>Ended this month</dt>
          <dd>{recent.month.ended === 1000 ? 'over 1,000' : recent.month.ended}</dd>
        </div>
        <div>
          <dt>Compute this month</dt>
          <dd>{durationText(recent.month.seconds)}</dd>
        </div>
        {recent.month.cost !== null && (
          <div>
            <dt>Cost this month</dt>
            <dd>{costText(recent.month.cost)}</dd>
          </div>
        )}
      </dl>
      <section aria-labelledby="running">
        <h2 id="running">Running now</h2>
        {running.length === 0 ? (
          <p class="soft">No experiment is running.</p>
        ) : (
          <Running rows={running} nameOf={nameOf} />
        )}
      </section>
      {failed.length > 0 && (
        <section aria-labelledby="failed">
          <h2 id="failed">Failed lately</h2>
          <ul class="lines">
            {failed.map((row) => (
              <Line key={row.experiment_id} row={row} nameOf={nameOf} hasStatus={false} />
            ))}
          </ul>
        </section>
      )}
      <section aria-labelledby="ended">
        <h2 id="ended">Last ended</h2>
        {ended.length === 0 ? (
          <p class="soft">No experiment has ended yet.</p>
        ) : (
          <ul class="lines">
            {ended.map((row) => (
              <Line key={row.experiment_id} row={row} nameOf={nameOf} />
            ))}
          </ul>
        )}
      </section>
      <section aria-labelledby="projects">
        <h2 id="projects">Projects</h2>
        <ul class="lines">
          {recent.projects.slice(0, 8).map((project) => (
            <li key={project.project_id}>
              <a class="line-link" href={href(['projects', project.project_id])}>
                <span class="grow">
                  <strong>
                    <bdi>{project.project_name}</bdi>
                  </strong>
                  <span class="soft clamp">{project.project_description}</span>
                </span>
                <span class="soft number">
                  <Ago time={project.updated_at} />
                </span>
              </a>
            </li>
          ))}
        </ul>
        {recent.projects.length > 8 && (
          <a href={href(['projects'])}>All {plural(recent.projects.length, 'project')}</a>
        )}
      </section>
    </>
  );
}

/** Home page: running experiments, recent failures with reasons, and this month's cost. */
export function HomePage() {
  const live = useLive('home', loadRecent, {
    every: ({ live: running }) => (running.length > 0 ? 5_000 : 20_000),
  });
  return (
    <>
      <PageHead title="Home" />
      <Loaded live={live} rows={8} what="The overview could not be loaded">
        {(recent) => <Overview recent={recent} />}
      </Loaded>
    </>
  );
}
