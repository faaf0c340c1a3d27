import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { blocksOf, parseReport, type ReportBlock } from '../../../../shared/reports/parse-report.ts';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Button } from '../ui/controls/button.tsx';
import { Field } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { keep, keptOf } from '../ui/router.ts';
import { attempt } from '../ui/states/notice.tsx';
import { InsertBlock } from './insert-block.tsx';
import { untitled } from './new-report.tsx';
import type { BlockReader, Report } from './report-calls.ts';
import { ReportText } from './report-text.tsx';

interface Draft {
  title: string;
  text: string;
  /** Version of the report that the draft changes. */
  tag: string;
}

/** Milliseconds without a key after which the preview follows the text. */
const restMilliseconds = 300;

/** A report as it is written, beside what its readers will see. */
export function ReportEditor({
  project_id,
  report,
  tag,
  reader,
  views,
  onSave,
  onEnd,
}: {
  project_id: string;
  report: Report;
  tag: string;
  reader: BlockReader;
  views: readonly { name: string }[];
  onSave: (draft: Draft) => Promise<void>;
  onEnd: () => void;
}) {
  const { draft, change, isChanged, save } = useDraft(report, tag, onSave);
  const { title, text } = draft;
  const [isInserting, setInserting] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const shown = useRested(text);
  const faults = useMemo(() => parseReport(shown).faults, [shown]);
  const numbers = useMemo(
    () => new Map(blocksOf(parseReport(report.text).parts).map((block, index) => [block.text, index + 1])),
    [report.text],
  );
  const insert = (lines: string) => {
    const at = area.current?.selectionEnd ?? text.length;
    const before = text.slice(0, at).replace(/\n*$/, '');
    const until = `${before}${before === '' ? '' : '\n\n'}${lines}\n\n`;
    change({ text: `${until}${text.slice(at).replace(/^\n*/, '')}` });
    setInserting(false);
    // After the dialog has given the focus back.
    setTimeout(() => {
      area.current?.focus();
      area.current?.setSelectionRange(until.length, until.length);
    });
  };
  return (
    <div class="halves">
      <div
        class="report-writing"
        data-kept
        onKeyDown={(event) => {
          if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void attempt(save, 'The report is saved');
        }}
      >
        <Form
          wide
          action="Save"
          beside={<Leave isChanged={isChanged} onLeave={onEnd} />}
          onSubmit={async () => {
            await save();
            onEnd();
          }}
        >
          <TextField
            label="Title"
            placeholder={untitled}
            value={title}
            data-stored={report.title === untitled ? '' : report.title}
            onText={(next) => change({ title: next })}
            maxLength={200}
          />
          <Field
            label="Text"
            hint="Markdown. Ctrl+S saves, and the page stays open."
            error={faults.length === 0 ? undefined : faults.join('; ')}
          >
            {(attributes) => (
              <>
                <div class="bar-row">
                  <Button icon="plus" onClick={() => setInserting(true)}>
                    Insert a block
                  </Button>
                </div>
                <textarea
                  {...attributes}
                  ref={area}
                  class="report-source"
                  rows={24}
                  spellcheck
                  value={text}
                  data-stored={report.text}
                  onInput={({ currentTarget }) => change({ text: currentTarget.value })}
                />
              </>
            )}
          </Field>
        </Form>
      </div>
      <section class="panel" aria-label="Preview">
        <h2>Preview</h2>
        <ReportText
          title={title || untitled}
          text={shown}
          version={tag}
          reader={reader}
          numberOf={(block: ReportBlock) => numbers.get(block.text)}
        />
      </section>
      {isInserting && (
        <InsertBlock
          project_id={project_id}
          views={views}
          onInsert={insert}
          onClose={() => setInserting(false)}
        />
      )}
    </div>
  );
}

/** The report as it is in the fields. A click on a link of the page, and Back, lose nothing of it. */
function useDraft(report: Report, tag: string, onSave: (draft: Draft) => Promise<void>) {
  const stored: Draft = { title: report.title === untitled ? '' : report.title, text: report.text, tag };
  const [draft, setDraft] = useState<Draft>(() => keptOf<Draft>('report-draft') ?? stored);
  const isChanged = draft.title !== stored.title || draft.text !== stored.text;
  useEffect(() => keep('report-draft', isChanged ? draft : undefined), [draft, isChanged]);
  /** Version that was last saved over. */
  const saved = useRef<string | undefined>(undefined);
  // What is typed while a draft is saved changes the version that comes of it.
  useEffect(() => setDraft((now) => (now.tag === saved.current ? { ...now, tag } : now)), [tag]);
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...(isChanged ? now : stored), ...part }));
  const save = async () => {
    if (!isChanged) return;
    saved.current = draft.tag;
    await onSave({ ...draft, title: draft.title.trim() || untitled });
  };
  return { draft, change, isChanged, save };
}

/** The way back to the report: it asks before it loses a change. */
const Leave = ({ isChanged, onLeave }: { isChanged: boolean; onLeave: () => void }) =>
  isChanged ? (
    <AskingButton
      kind="quiet"
      title="Discard the changes?"
      action="Discard"
      question="The report stays as it was last saved."
      onConfirm={async () => {
        keep('report-draft', undefined);
        onLeave();
      }}
    >
      Discard the changes
    </AskingButton>
  ) : (
    <Button kind="quiet" onClick={onLeave}>
      Close
    </Button>
  );

/** Return a text once nobody types. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
