import { signal } from '@preact/signals';

/** Fields of text that a form stores. Those for searches are in the address, and those of a sign-in are not kept. */
const fields =
  ':is(main, dialog) :is(textarea, input:is([type=text], :not([type]))):not([role=combobox], [readonly], [autocomplete=username])';
/** Below it, the page keeps what is typed for a return to it. */
const kept = '[data-kept] *';

/** Text of each field before somebody typed in it. `data-stored` has it where a page knows it better. */
const before = new WeakMap<Element, string>();

type TextInput = HTMLInputElement | HTMLTextAreaElement;

function note({ target }: Event): void {
  if (target instanceof Element && target.matches(fields) && !before.has(target))
    before.set(target, (target as TextInput).value);
}
document.addEventListener('focusin', note);
// A form that was stored has forgotten its texts, and its field may still have the focus.
document.addEventListener('beforeinput', note);

const editedIn = (around: Element): TextInput[] =>
  [...around.querySelectorAll<TextInput>(fields)].filter(
    (field) => field.value !== (field.dataset['stored'] ?? before.get(field) ?? field.value),
  );

/** Fields that the user has discarded. They count again once their text changes. */
const discarded = new WeakMap<Element, string>();
const isDiscarded = (field: TextInput): boolean => discarded.get(field) === field.value;

/** Return whether leaving a part of the page would lose what somebody has typed and not stored. */
export const hasEdits = (around: Element = document.body): boolean =>
  editedIn(around).some((field) => !field.matches(kept) && !isDiscarded(field));

/** Take the texts of a part of the page as stored, or as not wanted any more. */
export function forgetEdits(around: Element = document.body): void {
  for (const field of editedIn(around)) discarded.set(field, field.value);
  for (const field of around.querySelectorAll(fields)) before.delete(field);
}

/** What waits for the answer to the question whether what was typed may be lost. */
export const waiting = signal<{ act: () => void; around: Element } | undefined>(undefined);

/**
 * Close or replace a part of the page: at once, or after a question if that loses what somebody has typed there.
 *
 * @example leaveEdits(onClose, dialog.current);
 */
export function leaveEdits(act: () => void, around: Element | null = document.body): void {
  if (around !== null && hasEdits(around)) waiting.value = { act, around };
  else act();
}

window.addEventListener('beforeunload', (event) => {
  if (editedIn(document.body).some((field) => !isDiscarded(field))) event.preventDefault();
});
