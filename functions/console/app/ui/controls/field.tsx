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
  /** Text of each value. A list keeps its order, also of values that are numbers. */
  options: Readonly<Record<T, string>> | readonly (readonly [value: T, text: string])[];
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
        {(isList(options) ? options : Object.entries<string>(options)).map(([id, text]) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** Labelled checkbox. */
export const CheckField = ({
  checked,
  onCheck,
  title,
  hint,
  children,
}: {
  checked: boolean;
  onCheck: (checked: boolean) => void;
  title?: string;
  hint?: string;
  children: ComponentChildren;
}) => (
  <label class="check" title={title}>
    <input
      type="checkbox"
      checked={checked}
      onChange={({ currentTarget }) => onCheck(currentTarget.checked)}
    />
    {hint === undefined ? (
      children
    ) : (
      <span>
        {children}
        <span class="hint">{hint}</span>
      </span>
    )}
  </label>
);

const isList = (options: object): options is readonly (readonly [string, string])[] => Array.isArray(options);
