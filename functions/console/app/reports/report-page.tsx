import { useMemo, useRef } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { ReportBlock } from '../../../../shared/reports/parse-report.ts';
import { loadProject } from '../api/projects.ts';
import { useRights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { ShareButton } from '../project/share-button.tsx';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Button } from '../ui/controls/button.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { goOn, href, place, setQuery } from '../ui/router.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt, tell } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { blockReader, changeReport, loadReport, type Report, removeReport } from './report-calls.ts';
import { ReportEditor } from './report-editor.tsx';
import { ReportText } from './report-text.tsx';
import { saveReport } from './save-report.ts';

/** Page of one report. */
export function ReportPage({ project_id, report_id }: { project_id: string; report_id: string }) {
  const path = { project_id, report_id };
  const live = useLive(`report/${report_id}`, async () => {
    const [project, report] = await Promise.all([loadProject(project_id), loadReport(path)]);
    return { project, ...report };
  });
  const trail = [{ name: 'Projects', href: href(['projects']) }];
  return (
    <Loaded live={live} rows={10} page={{ what: 'report', trail }}>
      {(loaded) => <Content {...loaded} path={path} onChange={live.refresh} />}
    </Loaded>
  );
}

function Content({
  project,
  report,
  tag,
  path,
  onChange,
}: {
  project: Awaited<ReturnType<typeof loadProject>>;
  report: Report;
  tag: string;
  path: { project_id: string; report_id: string };
  onChange: () => Promise<void>;
}) {
  const { project_id, report_id } = path;
  const { mayChange, mayOwn } = useRights(project_id, project);
  const isEditing = mayChange && place.value.query.get('edit') === '1';
  const reader = useMemo(() => blockReader(path), [report_id]);
  const page = useRef<HTMLDivElement>(null);
  const store = async (body: { title?: string; text?: string }, version = tag) => {
    try {
      await changeReport(path, version, body);
    } catch (error) {
      if (error instanceof ProblemError && error.status === 412)
        throw new Error(
          'Somebody else has changed the report since you opened it. Copy your text, and reload the page.',
        );
      throw error;
    }
    await onChange();
  };
  const freeze = (block: ReportBlock) => attempt(() => store({ text: withFreeze(report.text, block) }));
  const save = () =>
    attempt(async () => {
      const article = page.current?.querySelector('article');
      if (article != null) await saveReport(article, report.title);
    });
  const remove = async () => {
    await removeReport(path);
    tell('The report is deleted.');
    goOn(href(['projects', project_id, 'reports']));
  };
  return (
    <>
      <PageHead
        trail={[
          { name: 'Projects', href: href(['projects']) },
          { name: project.project_name, href: href(['projects', project_id]) },
          { name: 'Reports', href: href(['projects', project_id, 'reports']) },
        ]}
        title={report.title}
        below={
          <p class="soft small">
            <bdi>{report.updated_by ?? 'A deleted user'}</bdi>, <Ago time={report.updated_at} />
          </p>
        }
      >
        {!isEditing && (
          <>
            <Button icon="download" onClick={save}>
              Export
            </Button>
            {mayOwn && <ShareButton project_id={project_id} subject={{ kind: 'report', report_id }} />}
            {mayChange && (
              <>
                <AskingButton
                  icon="trash"
                  label="Delete the report"
                  title="Delete this report?"
                  action="Delete"
                  question="What it shows stays."
                  onConfirm={remove}
                />
                <Button kind="primary" onClick={() => setQuery({ edit: '1' })}>
                  Edit
                </Button>
              </>
            )}
          </>
        )}
      </PageHead>
      {isEditing ? (
        <ReportEditor
          {...{ project_id, report, tag, reader }}
          views={project.views}
          onSave={({ tag: version, ...body }) => store(body, version)}
          onEnd={() => setQuery({ edit: undefined })}
        />
      ) : (
        <div ref={page}>
          <ReportText
            {...report}
            version={tag}
            reader={reader}
            actions={
              mayChange
                ? (block) =>
                    block.kind === 'receipt' ? null : (
                      <Button kind="quiet" onClick={() => freeze(block)}>
                        {block.isFrozen ? 'Make live' : 'Freeze'}
                      </Button>
                    )
                : undefined
            }
          />
        </div>
      )}
    </>
  );
}

/** Return the text with a block frozen, or live again. */
function withFreeze(text: string, { line, isFrozen, text: lines }: ReportBlock): string {
  const all = text.split('\n');
  const count = lines.split('\n').length - 1;
  const kept = all.slice(line, line + count).filter((one) => !/^\s*frozen\s*:/.test(one));
  all.splice(line, count, ...kept, ...(isFrozen ? [] : ['frozen: true']));
  return all.join('\n');
}
