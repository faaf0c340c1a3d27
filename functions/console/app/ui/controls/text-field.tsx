import { Field } from './field.tsx';

interface TextFieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  value: string;
  onText(text: string): void;
  isPassword?: boolean;
  class?: string;
  name?: string;
  autocomplete?: string;
  autocapitalize?: 'none';
  spellcheck?: boolean;
  autofocus?: boolean;
  placeholder?: string;
  maxLength?: number;
  /** Id of a `datalist` with suggestions. */
  list?: string;
  /** Its text at the service, of `ui/edits.ts`. */
  'data-stored'?: string;
  inputMode?: 'numeric' | 'decimal';
  /** Key that goes to it from anywhere on the page, of `shell/keys.tsx`. */
  'data-key'?: string;
}

/** Labelled text or password field. */
export const TextField = ({ label, hint, error, onText, isPassword = false, ...input }: TextFieldProps) => (
  <Field label={label} hint={hint} error={error}>
    {(attributes) => {
      const all = {
        ...attributes,
        ...input,
        onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onText(currentTarget.value),
      };
      return isPassword ? <input {...all} type="password" /> : <input {...all} type="text" />;
    }}
  </Field>
);
