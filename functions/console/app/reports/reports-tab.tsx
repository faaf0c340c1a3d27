import { useLive } from '../api/use-live.ts';
import { Listing } from '../ui/listing.tsx';
import { href } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { NewReport } from './new-report.tsx';
import { loadReports } from './report-calls.ts';

/** Reports of a project, the newest first. */
export function ReportsTab({ project_id, mayChange }: { project_id: string; mayChange: boolean }) {
  const live = useLive(`reports/${project_id}`, () => loadReports(project_id));
  return (
    <Loaded live={live} rows={6} what="The reports could not be loaded">
      {(reports) =>
        reports.length === 0 ? (
          <Empty title="No reports yet" icon="book">
            <p>
              A page of text with charts, tables, figures and pictures of this project, live or as of a day.
            </p>
            {mayChange && <NewReport project_id={project_id} />}
          </Empty>
        ) : (
          <Listing
            label="Reports"
            headings={['Report', { name: 'By', class: 'only-wide' }, { name: 'Changed', class: 'right' }]}
          >
            {reports.map(({ report_id, title, updated_by, updated_at }) => (
              <tr key={report_id}>
                <th scope="row">
                  <a href={href(['projects', project_id, 'reports', report_id])}>
                    <bdi>{title}</bdi>
                  </a>
                </th>
                <td class="only-wide">
                  <bdi>{updated_by ?? '–'}</bdi>
                </td>
                <td class="right">
                  <Ago time={updated_at} />
                </td>
              </tr>
            ))}
          </Listing>
        )
      }
    </Loaded>
  );
}
