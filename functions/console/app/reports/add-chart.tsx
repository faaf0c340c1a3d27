import { useState } from 'preact/hooks';
import { maxRuns } from '../../../../shared/reports/parse-report.ts';
import { useLive } from '../api/use-live.ts';
import type { SeenChart } from '../charts/chart-report.ts';
import { Dialog } from '../ui/controls/dialog.tsx';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { go, href } from '../ui/router.ts';
import { plural } from '../ui/text/format.ts';
import { addReport, changeReport, loadReport, loadReports } from './report-calls.ts';

const maxNote = 200;

/** Dialog that adds a chart to a report of the project, with a note. */
export function AddChart({
  project_id,
  chart,
  onClose,
}: {
  project_id: string;
  chart: SeenChart;
  onClose: () => void;
}) {
  // The field has the focus at once. The reports come into the list once they are loaded.
  const { data: reports = [] } = useLive(`reports/${project_id}`, () => loadReports(project_id));
  const [note, setNote] = useState('');
  const [to, setTo] = useState('');
  const { metrics, experiments, step } = chart;
  const add = async (): Promise<void> => {
    const part = chartText(chart, note);
    const report_id =
      to === ''
        ? (await addReport(project_id, { title: metrics.join(', '), text: part })).report_id
        : await append({ project_id, report_id: to }, part);
    onClose();
    go(href(['projects', project_id, 'reports', report_id]));
  };
  return (
    <Dialog title="Add the chart to a report" onClose={onClose}>
      <Form action="Add" onSubmit={add}>
        <TextField
          label={step === undefined ? 'Text (optional)' : `Note at step ${step} (optional)`}
          {...(step === undefined && {
            hint: 'A click on a chart chooses a step. The text stands at it then.',
          })}
          value={note}
          onText={setNote}
          maxLength={maxNote}
          autofocus
        />
        <SelectField
          label="Report"
          options={{
            '': 'New report',
            ...Object.fromEntries(reports.map(({ report_id, title }) => [report_id, title])),
          }}
          value={to}
          onChoose={setTo}
        />
        {experiments.length > maxRuns && (
          <p class="soft small">
            It has the first {maxRuns} of {plural(experiments.length, 'curve')}.
          </p>
        )}
      </Form>
    </Dialog>
  );
}

/** Return the Markdown of a chart, with a note at the step of the crosshair or as a paragraph. */
function chartText({ metrics, experiments, isLog, step }: SeenChart, note: string): string {
  const text = note.trim();
  const lines = [
    `experiments: ${experiments.slice(0, maxRuns).join(', ')}`,
    ...metrics.map((metric) => `metric: ${metric}`),
    ...(isLog ? ['scale: log'] : []),
    ...(step !== undefined && text !== '' ? [`note: ${step} ${text}`] : []),
  ];
  const block = `\`\`\`mps chart\n${lines.join('\n')}\n\`\`\`\n`;
  return step === undefined && text !== '' ? `${text}\n\n${block}` : block;
}

/** Add a part to the end of a report. @returns its ID */
async function append(path: { project_id: string; report_id: string }, part: string): Promise<string> {
  const { report, tag } = await loadReport(path);
  await changeReport(path, tag, { text: `${report.text.trimEnd()}\n\n${part}` });
  return path.report_id;
}
