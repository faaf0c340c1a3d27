import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { forgetEdits } from '../edits.ts';
import { Problem } from '../states/problem.tsx';
import { Button } from './button.tsx';

type Children = { children?: ComponentChildren };

/** Form that shows its errors and blocks a second submission while one runs. */
export function Form({
  onSubmit,
  children,
  action,
  wide,
  kind = 'primary',
  isReady = true,
  beside,
}: {
  onSubmit: () => Promise<unknown>;
  action: string;
  wide?: boolean;
  /** `plain` for a form on a page whose main action is another. */
  kind?: 'primary' | 'plain';
  /** Whether the fields are valid. They show their own errors. */
  isReady?: boolean;
  /** What else the user can do, after the button. */
  beside?: ComponentChildren;
} & Children) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // The answer to Enter in a field may be below the window.
  useEffect(() => {
    if (error !== undefined) form.current?.querySelector('.problem')?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const stored = form.current;
      await onSubmit();
      if (stored !== null) forgetEdits(stored);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const submitButton = (
    <Button type="submit" kind={kind} disabled={isBusy || !isReady}>
      {isBusy ? 'Working…' : action}
    </Button>
  );
  return (
    <form ref={form} class={`form${wide ? ' wide' : ''}`} onSubmit={(event) => void submit(event)} noValidate>
      {children}
      {error !== undefined && <Problem error={error} />}
      {beside === undefined ? (
        submitButton
      ) : (
        <div class="bar-row">
          {submitButton}
          {beside}
        </div>
      )}
    </form>
  );
}
