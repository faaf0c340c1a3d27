import { useEffect, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import type { Experiment } from '../api/answers.ts';
import { changeExperiment, type ExperimentPath, loadForChange } from '../api/experiments.ts';
import { Button } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Field } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { Markdown } from '../ui/text/markdown.tsx';

interface Draft {
  name: string;
  note: string;
  tags: { name: string; value: string }[];
}

const draftOf = ({ name, note, tags }: Experiment): Draft => ({
  name,
  note: note ?? '',
  tags: Object.entries(tags).map(([tag, value]) => ({ name: tag, value })),
});

/** Return only the changed fields, so concurrent changes of other fields stay. */
function changeOf(draft: Draft, before: Experiment) {
  const tags: Record<string, string | null> = {};
  const wanted = new Map(
    draft.tags.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]),
  );
  for (const name of Object.keys(before.tags)) if (!wanted.has(name)) tags[name] = null;
  for (const [name, value] of wanted) if (before.tags[name] !== value) tags[name] = value;
  return {
    ...(draft.name !== before.name && { name: draft.name }),
    ...(draft.note !== (before.note ?? '') && { note: draft.note === '' ? null : draft.note }),
    ...(Object.keys(tags).length > 0 && { tags }),
  };
}

/** Dialog to edit name, note and tags. It reports a concurrent change and keeps the typed text. */
export function EditDialog({
  path,
  onChange,
  onClose,
}: {
  path: ExperimentPath;
  onChange: (next: Experiment) => void;
  onClose: () => void;
}) {
  const [base, setBase] = useState<{ experiment: Experiment; tag: string }>();
  const [draft, setDraft] = useState<Draft>();
  const [error, setError] = useState<unknown>();
  const [isStale, setStale] = useState(false);
  const [isPreview, setPreview] = useState(false);
  useEffect(() => {
    loadForChange(path).then((found) => {
      setBase(found);
      setDraft(draftOf(found.experiment));
    }, setError);
  }, [path.experiment_id]);
  if (error !== undefined || base === undefined || draft === undefined)
    return (
      <Dialog key="loading" title="Edit the experiment" onClose={onClose}>
        {error === undefined ? <Skeleton rows={3} /> : <Problem error={error} />}
      </Dialog>
    );
  const save = async () => {
    try {
      onChange(await changeExperiment(path, changeOf(draft, base.experiment), base.tag));
      onClose();
    } catch (failure) {
      if (!(failure instanceof ProblemError) || failure.status !== 412) throw failure;
      // Keep the draft and compare the next attempt with the present state.
      setBase(await loadForChange(path));
      setStale(true);
    }
  };
  const setTag = (index: number, part: Partial<Draft['tags'][number]>) =>
    setDraft({ ...draft, tags: draft.tags.map((tag, at) => (at === index ? { ...tag, ...part } : tag)) });
  return (
    <Dialog key="form" title="Edit the experiment" onClose={onClose} wide>
      {isStale && (
        <div class="problem" role="alert">
          <div>
            <strong>Another user has changed this experiment</strong>
            <p>
              It is now called “<bdi>{base.experiment.name}</bdi>”
              {base.experiment.note === null ? ', without a note' : ', with this note:'}
            </p>
            {base.experiment.note !== null && <pre class="text">{base.experiment.note}</pre>}
            <p>Your text is still below. Save again to replace the other user's text with it.</p>
          </div>
        </div>
      )}
      <Form action={isStale ? 'Save mine' : 'Save'} onSubmit={save} wide>
        <TextField
          label="Name"
          maxLength={128}
          value={draft.name}
          onText={(text) => setDraft({ ...draft, name: text })}
        />
        <Field label="Note" hint="Markdown, at most 10,000 characters.">
          {(attributes) =>
            isPreview ? (
              <div class="panel">
                <Markdown text={draft.note} />
              </div>
            ) : (
              <textarea
                {...attributes}
                rows={7}
                dir="auto"
                maxLength={10_000}
                value={draft.note}
                onInput={({ currentTarget }) => setDraft({ ...draft, note: currentTarget.value })}
              />
            )
          }
        </Field>
        <div>
          <Button kind="quiet" onClick={() => setPreview(!isPreview)}>
            {isPreview ? 'Go on writing' : 'Preview the note'}
          </Button>
        </div>
        <fieldset>
          <legend>Tags</legend>
          {draft.tags.map((tag, index) => (
            <div class="tag-row" key={index}>
              <input
                aria-label={`Name of tag ${index + 1}`}
                placeholder="name"
                value={tag.name}
                maxLength={250}
                onInput={({ currentTarget }) => setTag(index, { name: currentTarget.value })}
              />
              <input
                aria-label={`Value of tag ${index + 1}`}
                placeholder="value"
                value={tag.value}
                onInput={({ currentTarget }) => setTag(index, { value: currentTarget.value })}
              />
              <Button
                kind="quiet"
                icon="close"
                label={`Remove tag ${index + 1}`}
                onClick={() => setDraft({ ...draft, tags: draft.tags.filter((_, at) => at !== index) })}
              />
            </div>
          ))}
          <Button
            icon="plus"
            onClick={() => setDraft({ ...draft, tags: [...draft.tags, { name: '', value: '' }] })}
          >
            Add a tag
          </Button>
        </fieldset>
      </Form>
    </Dialog>
  );
}
