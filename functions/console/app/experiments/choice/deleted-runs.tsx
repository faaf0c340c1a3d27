import { loadDeletedRuns, restoreRuns } from '../../api/deletions.ts';
import { useLive } from '../../api/use-live.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Headings, hiddenHeading } from '../../ui/listing.tsx';
import { setQuery } from '../../ui/router.ts';
import { useShowMore } from '../../ui/show-more.tsx';
import { Empty } from '../../ui/states/empty.tsx';
import { Loaded } from '../../ui/states/loaded.tsx';
import { attempt, tell } from '../../ui/states/notice.tsx';
import { RunStatus } from '../../ui/states/status.tsx';
import { Ago } from '../../ui/text/ago.tsx';
import { plural } from '../../ui/text/format.ts';

const maxShown = 200;
const keptDays = 30;

/** Days until a deleted experiment is removed for ever. */
const daysLeft = (deleted_at: string | null): string =>
  plural(Math.max(0, Math.ceil(keptDays - (Date.now() - Date.parse(deleted_at ?? '')) / 86_400_000)), 'day');

/** Deleted experiments of a project, which can be restored. */
export function DeletedRuns({ project_id, mayChange }: { project_id: string; mayChange: boolean }) {
  const live = useLive(`deleted/${project_id}`, () => loadDeletedRuns(project_id));
  const [shown, more] = useShowMore(live.data ?? [], maxShown, 'experiments');
  const restore = (ids: readonly string[]) =>
    attempt(async () => {
      await restoreRuns(project_id, ids);
      await live.refresh();
      tell(`${plural(ids.length, 'experiment')} restored.`);
    });
  return (
    <>
      <div class="bar-row">
        <Button icon="left" onClick={() => setQuery({ deleted: undefined })}>
          Back to the table
        </Button>
        {mayChange && (live.data?.length ?? 0) > 1 && (
          <Button onClick={() => restore((live.data ?? []).map(({ experiment_id }) => experiment_id))}>
            Restore all {live.data?.length}
          </Button>
        )}
      </div>
      <Loaded live={live} what="The deleted experiments could not be loaded">
        {(runs) =>
          runs.length === 0 ? (
            <Empty title="Nothing is deleted" icon="trash">
              <p>Deleted experiments stay here for 30 days.</p>
            </Empty>
          ) : (
            <div class="table grouped" tabIndex={0} role="group" aria-label="Deleted experiments">
              <table class="data">
                <Headings
                  of={[
                    'Experiment',
                    'Status',
                    'Deleted',
                    'Removed in',
                    ...(mayChange ? [hiddenHeading('Action')] : []),
                  ]}
                />
                <tbody>
                  {shown.map(({ experiment_id, name, status, outcome, deleted_at }) => (
                    <tr key={experiment_id}>
                      <th scope="row">
                        <bdi>{name}</bdi>
                      </th>
                      <td>
                        <RunStatus run={{ status, outcome }} />
                      </td>
                      <td>
                        <Ago time={deleted_at} />
                      </td>
                      <td>{daysLeft(deleted_at)}</td>
                      {mayChange && (
                        <td class="right">
                          <Button kind="quiet" onClick={() => restore([experiment_id])}>
                            Restore
                          </Button>
                        </td>
                      )}
                    </tr>
                  ))}
                </tbody>
              </table>
              {more}
            </div>
          )
        }
      </Loaded>
    </>
  );
}
