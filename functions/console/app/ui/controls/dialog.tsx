import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasEdits, leaveEdits } from '../edits.ts';
import { Problem } from '../states/problem.tsx';
import { Button } from './button.tsx';

type Children = { children?: ComponentChildren };

/** Modal dialog. Escape and the button close it, after a question if that loses a text. The focus returns to its previous element. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: { title: string; onClose?: () => void; wide?: boolean | 'full' } & Children) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const close = onClose && (() => leaveEdits(onClose, dialog.current));
  // Before the next event: a key between two dialogs, such as that of a form and the one before it, would go to the page.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // A form begins at its first field, not at the button that closes it.
    if (dialog.current?.querySelector('[autofocus]') === null)
      (
        dialog.current.querySelector<HTMLElement>('form :is(input, textarea, select)') ?? dialog.current
      ).focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      class={wide === 'full' ? 'full' : wide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close?.();
      }}
      // Browsers may close it without asking, for example at a second Escape.
      onClose={() => {
        if (dialog.current !== null && hasEdits(dialog.current)) dialog.current.showModal();
        close?.();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {close && <Button kind="quiet" icon="close" label="Close" onClick={close} />}
      </header>
      {children}
    </dialog>
  );
}

/** Confirmation dialog for an irreversible action. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: { title: string; action: string; onConfirm: () => Promise<unknown>; onClose: () => void } & Children) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error !== undefined && <Problem error={error} />}
      <footer>
        <Button onClick={onClose}>Keep</Button>
        <Button kind="danger" onClick={confirm} disabled={isBusy}>
          {isBusy ? 'Working…' : action}
        </Button>
      </footer>
    </Dialog>
  );
}
