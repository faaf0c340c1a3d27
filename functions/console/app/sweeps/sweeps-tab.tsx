import { useState } from 'preact/hooks';
import { type Sweep, sweepsPage } from '../api/sweeps.ts';
import { useLive } from '../api/use-live.ts';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { Command } from '../ui/controls/copy.tsx';
import { Listing } from '../ui/listing.tsx';
import { href } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { Status } from '../ui/states/status.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { costText } from '../ui/text/format.ts';
import { useNarrow } from '../ui/use-narrow.ts';
import { ProgressBar } from './progress.tsx';
import { isLive, valueText } from './sweep-text.ts';

const pageSize = 50;

/** Sweeps of a project, the newest first. */
export function SweepsTab({ project_id, mayChange }: { project_id: string; mayChange: boolean }) {
  const live = useLive(`sweeps/${project_id}`, () => sweepsPage(project_id, pageSize), {
    every: ({ rows }) => (rows.some(isLive) ? 3_000 : 20_000),
    isKept: true,
  });
  const [later, setLater] = useState<{ rows: readonly Sweep[]; next: string | undefined }>();
  const isNarrow = useNarrow();
  const more = async (cursor: string) => {
    await attempt(async () => {
      const { rows, next } = await sweepsPage(project_id, pageSize, cursor);
      setLater({ rows: [...(later?.rows ?? []), ...rows], next });
    });
  };
  return (
    <Loaded live={live} rows={6} what="The sweeps could not be loaded">
      {({ rows, next }) => {
        const first = new Set(rows.map(({ sweep_id }) => sweep_id));
        const all = [...rows, ...(later?.rows ?? []).filter(({ sweep_id }) => !first.has(sweep_id))];
        const cursor = later === undefined ? next : later.next;
        if (all.length === 0) return <FirstSweep project_id={project_id} mayChange={mayChange} />;
        return (
          <>
            <Listing
              label="Sweeps"
              headings={[
                'Sweep',
                ...(isNarrow ? [] : ['Status']),
                'Progress',
                { name: 'Best', class: 'right' },
                { name: 'Cost', class: 'right only-wide' },
                { name: 'Created', class: 'right only-wide' },
              ]}
            >
              {all.map((sweep) => (
                <Row key={sweep.sweep_id} sweep={sweep} />
              ))}
            </Listing>
            {cursor !== undefined && (
              <div class="bar-row after">
                <Button onClick={() => more(cursor)}>Show more</Button>
              </div>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

const Row = ({ sweep }: { sweep: Sweep }) => {
  const { project_id, sweep_id, name, status, status_reason, method, metric, best, spent, budget } = sweep;
  const isNarrow = useNarrow();
  return (
    <tr>
      <th scope="row">
        <a href={href(['projects', project_id, 'sweeps', sweep_id])}>
          <bdi>{name}</bdi>
        </a>
        <p class="soft small">
          {method}, {sweep.goal} <bdi>{metric}</bdi>
        </p>
        {isNarrow && <Status status={status} />}
      </th>
      {!isNarrow && (
        <td title={status_reason ?? undefined}>
          <Status status={status} />
        </td>
      )}
      <td class="sweep-progress">
        <ProgressBar sweep={sweep} />
      </td>
      <td class="right number">{best === null ? '–' : valueText(best.value, best.deviation)}</td>
      <td class="right number only-wide">
        {costText(spent)}
        {budget !== null && <span class="soft"> of {costText(budget)}</span>}
      </td>
      <td class="right number only-wide">
        <Ago time={sweep.created_at} />
      </td>
    </tr>
  );
};

const FirstSweep = ({ project_id, mayChange }: { project_id: string; mayChange: boolean }) => (
  <Empty title="No sweeps yet" icon="chart">
    <p>A sweep tries many settings of a training, and finds the best.</p>
    {mayChange && (
      <>
        <LinkButton href={href(['projects', project_id, 'sweeps', 'new'])} kind="primary" icon="play">
          Start a sweep
        </LinkButton>
        <p class="soft small">or from the folder of the training:</p>
        <Command>mps sweep -S lr=1e-4..1e-1:log -- python train.py</Command>
      </>
    )}
  </Empty>
);
