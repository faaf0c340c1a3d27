import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Field } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { tell } from '../ui/states/notice.tsx';

const usual = ['production', 'champion', 'staging'];

/** Dialog that gives an alias to a version. If another version has the alias, it moves. */
export function PromoteDialog({
  version,
  aliases,
  effect,
  onPromote,
  onClose,
}: {
  /** Name of the version for people. */
  version: string;
  /** Versions by alias, named for people. */
  aliases: Readonly<Record<string, string>>;
  /** What the alias is for. */
  effect: (alias: string) => ComponentChildren;
  /** Give the alias and return how to undo it. */
  onPromote: (alias: string) => Promise<() => Promise<unknown>>;
  onClose: () => void;
}) {
  const [alias, setAlias] = useState('production');
  const list = useId();
  const wanted = alias.trim();
  const present = Object.hasOwn(aliases, wanted) ? aliases[wanted] : undefined;
  return (
    <Dialog title={`Promote ${version}`} onClose={onClose}>
      <Form
        action={present === undefined || present === version ? 'Promote' : 'Move the alias'}
        isReady={wanted !== '' && present !== version}
        onSubmit={async () => {
          const undo = await onPromote(wanted);
          onClose();
          tell(`${wanted} is now ${version}`, false, { name: 'Undo', act: undo });
        }}
        wide
      >
        <Field
          label="Alias"
          hint={
            present === undefined
              ? undefined
              : present === version
                ? 'It has this alias.'
                : `The alias moves here from ${present}.`
          }
        >
          {(attributes) => (
            <input
              {...attributes}
              list={list}
              autoComplete="off"
              spellcheck={false}
              value={alias}
              onInput={({ currentTarget }) => setAlias(currentTarget.value)}
            />
          )}
        </Field>
        <datalist id={list}>
          {[...new Set([...Object.keys(aliases), ...usual])].map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        {wanted !== '' && <p class="soft small">{effect(wanted)}</p>}
      </Form>
    </Dialog>
  );
}
