import { useId, useState } from 'preact/hooks';
import { deleteRuns, restoreRuns } from '../../api/deletions.ts';
import type { Column } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';
import { Button, LinkButton } from '../../ui/controls/button.tsx';
import { Confirm, Dialog } from '../../ui/controls/dialog.tsx';
import { SelectField } from '../../ui/controls/field.tsx';
import { Form } from '../../ui/controls/form.tsx';
import { TextField } from '../../ui/controls/text-field.tsx';
import { href } from '../../ui/router.ts';
import { saveBlob } from '../../ui/save.ts';
import { attempt, tell } from '../../ui/states/notice.tsx';
import { isFinal } from '../../ui/states/status.tsx';
import { plural } from '../../ui/text/format.ts';
import { valueOfColumn } from '../loaded-values.ts';
import { cancelRows, csvOf, renameRows, tagRows, untagRows } from './change-many.ts';

const maxCompare = 50;
const maxKnownTags = 50;

/** Changes of rows that the page has made. */
export interface RowChanges {
  /** Read these rows again. */
  renew(ids: readonly string[]): Promise<void>;
  /** Leave these rows out. */
  drop(ids: readonly string[]): void;
  /** Return rows with these values, which a heavy table may not have loaded. */
  complete(rows: readonly Row[], values: readonly string[]): Promise<readonly Row[]>;
}

type DialogName = 'tag' | 'rename' | 'cancel';

/** Actions on the chosen rows. */
export function ChosenBar({
  rows,
  matching,
  columns,
  project_id,
  mayChange,
  changes,
  baseline,
  onBaseline,
  onPin,
  onAll,
  onClear,
}: {
  rows: readonly Row[];
  /** Number of rows that match the filter. */
  matching: number;
  columns: readonly Column[];
  project_id: string;
  mayChange: boolean;
  changes: RowChanges;
  /** ID of the experiment that the others are compared with. */
  baseline: string | undefined;
  /** Called with the new baseline; undefined for none. */
  onBaseline: (row: Row | undefined) => void;
  onPin: () => void;
  onAll: () => void;
  onClear: () => void;
}) {
  const [dialog, setDialog] = useState<DialogName>();
  /** The rows with all of their tags. */
  const [tagged, setTagged] = useState<readonly Row[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [first] = rows;
  const ids = rows.map(({ experiment_id }) => experiment_id);
  const running = rows.filter(({ status }) => !isFinal(status));
  const act = async (action: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    await attempt(action);
    setBusy(false);
  };
  const remove = () =>
    act(async () => {
      const { deleted, unfinished, shown } = await deleteRuns(project_id, ids);
      changes.drop(deleted);
      onClear();
      const left =
        unfinished.length > 0 ? ` ${plural(unfinished.length, 'training')} still run; cancel first.` : '';
      const kept =
        shown.length > 0 ? ` ${plural(shown.length, 'experiment')} stay: a report shows them.` : '';
      tell(`${plural(deleted.length, 'experiment')} deleted, restorable for 30 days.${left}${kept}`, false, {
        name: 'Undo',
        async act() {
          await restoreRuns(project_id, deleted);
          await changes.renew(deleted);
        },
      });
    });
  const canCompare = rows.length >= 2 && rows.length <= maxCompare;
  return (
    <div class="chosen-bar" role="region" aria-label="Chosen experiments">
      <strong>{rows.length.toLocaleString('en')} chosen</strong>
      {rows.length < matching && (
        <button type="button" class="as-link small" title="Choose all that match" onClick={onAll}>
          Choose all {matching.toLocaleString('en')}
        </button>
      )}
      <div class="chosen-actions">
        {canCompare ? (
          <LinkButton
            href={href(['projects', project_id, 'compare'], { experiments: ids.join(',') })}
            kind="primary"
            icon="chart"
          >
            Compare
          </LinkButton>
        ) : (
          <span title={rows.length < 2 ? 'Choose two or more' : `At most ${maxCompare} can be compared`}>
            <Button kind="primary" icon="chart" disabled>
              Compare
            </Button>
          </span>
        )}
        <Button icon="star" onClick={onPin}>
          Pin
        </Button>
        {first !== undefined && rows.length === 1 && (
          <Button
            icon="flag"
            onClick={() => onBaseline(first.experiment_id === baseline ? undefined : first)}
          >
            {first.experiment_id === baseline ? 'No baseline' : 'Baseline'}
          </Button>
        )}
        {mayChange && (
          <>
            <Button
              icon="tag"
              shortcut="g"
              disabled={isBusy}
              onClick={() =>
                act(async () => {
                  setTagged(await changes.complete(rows, ['tags']));
                  setDialog('tag');
                })
              }
            >
              Tag
            </Button>
            <Button disabled={isBusy} onClick={() => setDialog('rename')}>
              Rename
            </Button>
            {running.length > 0 && (
              <Button icon="stop" disabled={isBusy} onClick={() => setDialog('cancel')}>
                Cancel {running.length}
              </Button>
            )}
          </>
        )}
        <Button
          icon="download"
          disabled={isBusy}
          onClick={() =>
            act(async () => {
              const written = await changes.complete(
                rows,
                columns.flatMap(({ id }) => valueOfColumn(id) ?? []),
              );
              saveBlob(
                new Blob([csvOf(written, columns)], { type: 'text/csv;charset=utf-8' }),
                'experiments.csv',
              );
            })
          }
        >
          CSV
        </Button>
        {mayChange && (
          <Button kind="danger" icon="trash" shortcut="d" disabled={isBusy} onClick={remove}>
            Delete
          </Button>
        )}
      </div>
      <Button kind="quiet" icon="close" label="Clear the choice" onClick={onClear} />
      <Dialogs
        dialog={dialog}
        rows={dialog === 'tag' ? tagged : rows}
        renew={changes.renew}
        onClose={() => setDialog(undefined)}
      />
    </div>
  );
}

/** Dialog that is open, if any. */
function Dialogs({
  dialog,
  rows,
  renew,
  onClose,
}: {
  dialog: DialogName | undefined;
  rows: readonly Row[];
  renew: RowChanges['renew'];
  onClose: () => void;
}) {
  const ids = rows.map(({ experiment_id }) => experiment_id);
  const running = rows.filter(({ status }) => !isFinal(status));
  const what = plural(rows.length, 'experiment');
  return (
    <>
      {dialog === 'tag' && (
        <TagDialog
          what={what}
          known={[...new Set(rows.flatMap(({ tags }) => Object.keys(tags)))].slice(0, maxKnownTags)}
          onClose={onClose}
          onTag={async (name, value) => {
            await tagRows(rows, name, value);
            await renew(ids);
            tell(`${what} tagged.`);
          }}
          onUntag={async (name) => {
            const { count, restore } = await untagRows(rows, name);
            await renew(ids);
            tell(`The tag ${name} is removed from ${plural(count, 'experiment')}.`, false, {
              name: 'Undo',
              act: () => restore().then(() => renew(ids)),
            });
          }}
        />
      )}
      {dialog === 'cancel' && (
        <Confirm
          title={`Cancel ${plural(running.length, 'experiment')}?`}
          action={`Cancel ${running.length}`}
          onClose={onClose}
          onConfirm={async () => {
            await cancelRows(running);
            await renew(running.map(({ experiment_id }) => experiment_id));
            tell(`${plural(running.length, 'experiment')} cancelled.`);
          }}
        >
          <p>They stop. Their logs, metrics and artifacts so far stay.</p>
        </Confirm>
      )}
      {dialog === 'rename' && (
        <RenameDialog
          what={what}
          first={rows[0]?.name ?? ''}
          isSeveral={rows.length > 1}
          onClose={onClose}
          onRename={async (name) => {
            await renameRows(rows, name);
            await renew(ids);
            tell(`${what} renamed.`);
          }}
        />
      )}
    </>
  );
}

function TagDialog({
  what,
  known,
  onTag,
  onUntag,
  onClose,
}: {
  what: string;
  /** Names of tags to suggest. */
  known: readonly string[];
  onTag: (name: string, value: string) => Promise<unknown>;
  onUntag: (name: string) => Promise<unknown>;
  onClose: () => void;
}) {
  const id = useId();
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [removed, setRemoved] = useState('');
  return (
    <Dialog title={`Tag ${what}`} onClose={onClose}>
      <Form
        action="Tag"
        isReady={name.trim() !== ''}
        onSubmit={async () => {
          await onTag(name.trim(), value);
          onClose();
        }}
      >
        <TextField
          label="Name"
          hint={known.includes(name.trim()) ? 'Replaces the value of this tag.' : undefined}
          autofocus
          list={id}
          value={name}
          onText={setName}
        />
        <datalist id={id}>
          {known.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <TextField label="Value (optional)" value={value} onText={setValue} />
      </Form>
      {known.length > 0 && (
        <Form
          action="Remove"
          kind="plain"
          isReady={removed !== ''}
          onSubmit={async () => {
            await onUntag(removed);
            onClose();
          }}
        >
          <SelectField
            label="Or remove a tag"
            options={{ '': 'Choose a tag', ...Object.fromEntries(known.map((tag) => [tag, tag])) }}
            value={removed}
            onChoose={setRemoved}
          />
        </Form>
      )}
    </Dialog>
  );
}

function RenameDialog({
  what,
  first,
  isSeveral,
  onRename,
  onClose,
}: {
  what: string;
  first: string;
  isSeveral: boolean;
  onRename: (name: string) => Promise<unknown>;
  onClose: () => void;
}) {
  const [name, setName] = useState(first);
  return (
    <Dialog title={`Rename ${what}`} onClose={onClose}>
      <Form
        action="Rename"
        isReady={name.trim() !== ''}
        onSubmit={async () => {
          await onRename(name.trim());
          onClose();
        }}
      >
        <TextField
          label="Name"
          hint={isSeveral ? 'Each gets a number after it, in the order of the table.' : undefined}
          autofocus
          value={name}
          onText={setName}
        />
      </Form>
    </Dialog>
  );
}
