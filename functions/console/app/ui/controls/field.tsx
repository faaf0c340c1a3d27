import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

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
