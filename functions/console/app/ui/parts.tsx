import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ProblemError } from '../../../../shared/client/problem-error.ts';
import { UnreachableError } from '../../../../shared/client/unreachable-error.ts';
import { Icon, type IconName } from './icon.tsx';
import { clock } from './text/clock.ts';
import { agoText, timeText } from './text/format.ts';

type Children = { children?: ComponentChildren };

export interface ButtonProps extends Children {
  onClick?: () => unknown;
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  icon?: IconName;
  disabled?: boolean | undefined;
  type?: 'button' | 'submit';
  label?: string;
  pressed?: boolean;
  expanded?: boolean;
  /** Key that presses it anywhere on the page, of `shell/keys.tsx`. */
  shortcut?: string;
}

export function Button({
  kind = 'plain',
  icon,
  label,
  type = 'button',
  pressed,
  expanded,
  shortcut,
  ...rest
}: ButtonProps) {
  const { children, onClick, disabled } = rest;
  return (
    <button
      type={type}
      class={`button ${kind}${children === undefined ? ' bare' : ''}`}
      disabled={disabled}
      onClick={onClick && (() => void onClick())}
      {...(label !== undefined && { 'aria-label': label, title: label })}
      {...(pressed !== undefined && { 'aria-pressed': pressed })}
      {...(expanded !== undefined && { 'aria-expanded': expanded })}
      {...(shortcut !== undefined && { 'data-key': shortcut })}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

export const LinkButton = ({
  href,
  icon,
  kind = 'plain',
  children,
}: { href: string; icon?: IconName; kind?: string } & Children) => (
  <a class={`button ${kind}`} href={href}>
    {icon && <Icon name={icon} />}
    <span>{children}</span>
  </a>
);

/** Labelled input with its hint and its error. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  children: (attributes: {
    id: string;
    'aria-describedby'?: string;
    'aria-invalid'?: boolean;
  }) => ComponentChildren;
}) {
  const id = useId();
  const about = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(about !== undefined && { 'aria-describedby': `${id}-about` }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      {about !== undefined && (
        <p id={`${id}-about`} class={error === undefined ? 'hint' : 'fault'}>
          {about}
        </p>
      )}
    </div>
  );
}

/** Labelled choice from a list. */
export const SelectField = <T extends string>({
  label,
  hint,
  error,
  options,
  value,
  onChoose,
}: {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  /** Text of each value. */
  options: Readonly<Record<T, string>>;
  value: T;
  onChoose: (value: T) => void;
}) => (
  <Field label={label} hint={hint} error={error}>
    {(attributes) => (
      <select
        {...attributes}
        value={value}
        onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}
      >
        {Object.entries<string>(options).map(([id, text]) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** Browsers' messages for a failed request. They differ and do not help users. */
const lostOnTheWay = /fetch|NetworkError|module script|Load failed/i;

/** Return whether an error means that the network or the service is unreachable. */
const isUnreached = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof TypeError && lostOnTheWay.test(error.message));

/** Return an error's text in the service's words, with all its faults. */
export function problemText(error: unknown): string {
  if (isUnreached(error))
    return 'The service cannot be reached. Check that it runs and that this machine is online.';
  if (error instanceof ProblemError && error.faults.length > 0)
    return error.faults.map(({ name, message }) => `${name} ${message}`).join('; ');
  return error instanceof Error ? error.message : String(error);
}

export function Problem({
  error,
  onRetry,
  what,
}: {
  error: unknown;
  onRetry?: (() => unknown) | undefined;
  what?: string;
}) {
  const id = error instanceof ProblemError ? error.requestId : '';
  return (
    <div class="problem" role="alert">
      <Icon name="warn" size={18} />
      <div>
        <strong>{what ?? 'The action failed'}</strong>
        <p>{problemText(error)}</p>
        {id !== '' && <p class="soft small">Request {id}</p>}
      </div>
      {onRetry && (
        <Button onClick={onRetry} icon="again">
          Try again
        </Button>
      )}
    </div>
  );
}

/** Placeholder for rows that are loading. */
export const Skeleton = ({ rows = 4 }: { rows?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} class={`bar w${(index % 3) + 1}`} />
    ))}
  </div>
);

/** Message for an empty list, with the next step. */
export const Empty = ({
  title,
  icon = 'folder',
  children,
}: { title: string; icon?: IconName } & Children) => (
  <div class="empty">
    <span class="round">
      <Icon name={icon} size={24} />
    </span>
    <h2>{title}</h2>
    {children}
  </div>
);

/** Show live data in one of four states. */
export function Loaded<T>({
  live,
  what,
  rows,
  children,
}: {
  live: { data: T | undefined; error: unknown; isLoading: boolean; refresh(): Promise<void> };
  what?: string;
  rows?: number;
  children: (data: T) => ComponentChildren;
}) {
  if (live.data !== undefined) return <>{children(live.data)}</>;
  if (live.error !== undefined)
    return <Problem error={live.error} onRetry={live.refresh} {...(what !== undefined && { what })} />;
  return <Skeleton {...(rows !== undefined && { rows })} />;
}

/** Relative time that updates itself, with the exact time on hover. */
export const Ago = ({ time }: { time: string | null }) =>
  time === null ? (
    <>–</>
  ) : (
    <time dateTime={time} title={timeText(time)}>
      {agoText(time, clock.value)}
    </time>
  );

export function Copy({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Button
      kind="quiet"
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? 'Copied' : label}
      onClick={copy}
    />
  );
}

/** Command with a copy button. */
export const Command = ({ children }: { children: string }) => (
  <div class="command">
    <pre tabIndex={0}>
      <code>{children}</code>
    </pre>
    <Copy text={children} label="Copy the command" />
  </div>
);

/** Modal dialog. Escape and the button close it. The focus returns to its previous element. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: { title: string; onClose?: () => void; wide?: boolean | 'full' } & Children) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
    // A form begins at its first field, not at the button that closes it.
    if (dialog.current?.querySelector('[autofocus]') === null)
      dialog.current.querySelector<HTMLElement>('form :is(input, textarea, select)')?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide === 'full' ? 'full' : wide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      // Browsers may close it without asking, for example at a second Escape.
      onClose={() => onClose?.()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose && <Button kind="quiet" icon="close" label="Close" onClick={onClose} />}
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

/** Form that shows its errors and blocks a second submission while one runs. */
export function Form({
  onSubmit,
  children,
  action,
  wide,
  kind = 'primary',
  isReady = true,
}: {
  onSubmit: () => Promise<unknown>;
  action: string;
  wide?: boolean;
  /** `plain` for a form on a page whose main action is another. */
  kind?: 'primary' | 'plain';
  /** Whether the fields are valid. They show their own errors. */
  isReady?: boolean;
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
      await onSubmit();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form ref={form} class={`form${wide ? ' wide' : ''}`} onSubmit={(event) => void submit(event)} noValidate>
      {children}
      {error !== undefined && <Problem error={error} />}
      <Button type="submit" kind={kind} disabled={isBusy || !isReady}>
        {isBusy ? 'Working…' : action}
      </Button>
    </form>
  );
}

/** Scroll the row of tabs, but not the page, to the current tab. On a phone the row is wider than the page. */
const bringIntoRow = (tab: HTMLElement | null): void => {
  const row = tab?.parentElement;
  if (tab == null || row == null) return;
  const [own, shown] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
  if (own.right > shown.right) row.scrollLeft += own.right - shown.right;
  else if (own.left < shown.left) row.scrollLeft -= shown.left - own.left;
};

/** Links to the parts of a page, with the current one marked. */
export const Tabs = ({
  tabs,
  current,
  label,
}: {
  tabs: readonly { id: string; name: string; href: string }[];
  current: string;
  label: string;
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ id, name, href }) => (
      <a key={id} href={href} {...(id === current && { 'aria-current': 'page' as const, ref: bringIntoRow })}>
        {name}
      </a>
    ))}
  </nav>
);
