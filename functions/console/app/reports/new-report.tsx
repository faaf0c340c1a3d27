import { Button } from '../ui/controls/button.tsx';
import { go, href } from '../ui/router.ts';
import { attempt } from '../ui/states/notice.tsx';
import { addReport } from './report-calls.ts';

const beginning = `# What was tried

# What was found
`;

/** Title of a report that has none yet. */
export const untitled = 'Untitled report';

/** Button that begins a report and opens it to be written. */
export const NewReport = ({ project_id }: { project_id: string }) => (
  <Button
    kind="primary"
    icon="plus"
    onClick={() =>
      attempt(async () => {
        const { report_id } = await addReport(project_id, { title: untitled, text: beginning });
        go(href(['projects', project_id, 'reports', report_id], { edit: '1' }));
      })
    }
  >
    New report
  </Button>
);
