import { useState } from 'preact/hooks';
import { Button } from '../../ui/controls/button.tsx';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { Form } from '../../ui/controls/form.tsx';
import { TextField } from '../../ui/controls/text-field.tsx';
import type { ListedView, SavedView } from './saved-view.ts';

/** Dialog that saves what the table shows as a view, or changes the name and the audience of one. */
export function ViewDialog({
  view,
  address,
  mayShare,
  onSave,
  onRemove,
  onClose,
}: {
  /** Undefined for a new view. */
  view: ListedView | undefined;
  address: string;
  /** Whether the user may change the views of the project. */
  mayShare: boolean;
  onSave: (view: SavedView & { isShared: boolean }, former?: ListedView) => Promise<unknown>;
  onRemove: (view: ListedView) => Promise<unknown>;
  onClose: () => void;
}) {
  const [name, setName] = useState(view?.name ?? '');
  const [isShared, setShared] = useState(view?.isShared ?? mayShare);
  const choice = (value: boolean, label: string) => (
    <label class="check">
      <input type="radio" name="audience" checked={isShared === value} onChange={() => setShared(value)} />
      {label}
    </label>
  );
  return (
    <Dialog title={view === undefined ? 'Add a view' : 'View'} onClose={onClose}>
      <Form
        action={view === undefined ? 'Add' : 'Apply'}
        isReady={name.trim() !== ''}
        onSubmit={async () => {
          await onSave({ name: name.trim(), address: view?.address ?? address, isShared }, view);
          onClose();
        }}
      >
        <TextField
          label="Name"
          hint={
            view === undefined
              ? 'It keeps filter, columns, order, groups and charts as they are shown now.'
              : undefined
          }
          autofocus
          maxLength={64}
          value={name}
          onText={setName}
        />
        {mayShare && (
          <fieldset class="audience">
            <legend>Who sees it</legend>
            {choice(true, 'Everybody who sees the project')}
            {choice(false, 'Only me, in this browser')}
          </fieldset>
        )}
      </Form>
      {view !== undefined && (
        <footer>
          <Button
            kind="danger"
            icon="trash"
            onClick={async () => {
              await onRemove(view);
              onClose();
            }}
          >
            Remove the view
          </Button>
        </footer>
      )}
    </Dialog>
  );
}
