import { useLive } from '../api/use-live.ts';
import { Button } from '../ui/controls/button.tsx';
import { Listing } from '../ui/listing.tsx';
import { go, href } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { addReport, loadReports } from './report-calls.ts';

const beginning = `# What was tried

# What was found
`;

/** Reports of a project, the newest first. */
export function ReportsTab({ project_id, mayChange }: { project_id: string; mayChange: boolean }) {
  const live = useLive(`reports/${project_id}`, () => loadReports(project_id));
  const begin = () =>
    attempt(async () => {
      const { report_id } = await addReport(project_id, { title: 'Untitled report', text: beginning });
      go(href(['projects', project_id, 'reports', report_id], { edit: '1' }));
    });
  const newReport = mayChange && (
    <Button kind="primary" icon="plus" onClick={begin}>
      New report
    </Button>
  );
  return (
    <Loaded live={live} rows={6} what="The reports could not be loaded">
      {(reports) =>
        reports.length === 0 ? (
          <Empty title="No reports yet" icon="book">
            <p>
              A page of text with charts, tables, figures and pictures of this project, live or as of a day.
            </p>
            {newReport}
          </Empty>
        ) : (
          <>
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
            <div class="bar-row after">{newReport}</div>
          </>
        )
      }
    </Loaded>
  );
}
