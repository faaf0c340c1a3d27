import { isTyping } from '../ui/use-keys.ts';

/** So long after the last part has loaded, a key is held to be forgotten by the person who pressed it. */
const longestMilliseconds = 3_000;
/** A part that loads for so long has failed. Nobody expects its keys any more. */
const longestLoadMilliseconds = 30_000;
/** Within this time, a part that an earlier key asked for shows that it is loading. */
const graceMilliseconds = 150;
const betweenLooks = 50;

const isLoading = (): boolean => document.querySelector('main .skeleton') !== null;

const isInDialog = (): boolean => document.querySelector('dialog[open]') !== null;

/** What a key opens or presses where it has the focus. */
const openedBy: ReadonlyMap<string, string> = new Map([
  ['Enter', 'a, button'],
  [' ', 'button, input'],
]);

/** What became of a key: it was written into a field, something acted on it, or nothing did. */
type Outcome = 'written' | 'acted' | 'nothing';

/** Press a key for the page as it is now. Enter and Space also open what has the focus, which an event of a script does not. */
function press(key: string): Outcome {
  const target = document.activeElement ?? document.body;
  // An event of a script writes nothing into a field that an earlier key went to.
  if (isTyping({ target, key }))
    return document.execCommand('insertText', false, key) ? 'written' : 'nothing';
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
  if (!target.dispatchEvent(event)) return 'acted';
  const opened = openedBy.get(key);
  if (opened === undefined || !target.matches(opened) || !(target instanceof HTMLElement)) return 'nothing';
  target.click();
  return 'acted';
}

/** Look again after the components that are drawn now listen: they do so after a frame. */
const afterFrame = (look: () => void): void =>
  void requestAnimationFrame(() => setTimeout(look, betweenLooks));

/**
 * Hold single keys that nothing acted on while a part of the page loads, and press them in their order once it is
 * there: a person who knows the page presses the next key before the part of the first has loaded. Keys that come
 * while others are held wait behind them, also those for a field. What is typed for a dialog goes into its field.
 * @returns ends it
 */
export function queueKeys(): () => void {
  let held: string[] = [];
  /** Keys whose actions may still come: all listeners have had a key before the next one arrives. */
  let open: KeyboardEvent[] = [];
  let hasEnded = false;
  let isWaiting = false;
  let since = 0;
  let begun = 0;
  /** Looks since something was loading; undefined if nothing was. */
  let looks: number | undefined;
  let isPressing = false;
  const pressHeld = (): void => {
    isPressing = true;
    // What a key does may load another part, so the next waits for the next look.
    let outcome: Outcome = 'nothing';
    while (outcome !== 'acted' && held.length > 0) outcome = press(held.shift() ?? '');
    isPressing = false;
    since = performance.now();
    looks = undefined;
  };
  /** Write what was typed for a dialog, while its part loaded, into its field. Nothing else of it was meant for the dialog. */
  const writeHeld = (): void => {
    isPressing = true;
    for (const key of held)
      if (isTyping({ target: document.activeElement, key }) && key.length === 1) press(key);
    isPressing = false;
    held = [];
  };
  const look = (): void => {
    isWaiting = false;
    if (hasEnded) return;
    settle();
    if (isLoading()) {
      looks = 0;
      since = performance.now();
    } else if (looks !== undefined) looks += 1;
    const age = performance.now() - since;
    const isLate = age > longestMilliseconds || performance.now() - begun > longestLoadMilliseconds;
    if (isLate) held = [];
    if (isInDialog()) writeHeld();
    if ((looks ?? 0) > 1 || (looks === undefined && age > graceMilliseconds)) pressHeld();
    if (held.length > 0) wait();
  };
  const wait = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    afterFrame(look);
  };
  const hold = (key: string): void => {
    if (held.length === 0) {
      since = performance.now();
      begun = since;
      looks = undefined;
    }
    held.push(key);
    wait();
  };
  /** Hold the earlier keys that nothing acted on. */
  const settle = (): void => {
    const settled = open;
    open = [];
    for (const { defaultPrevented, key } of settled) if (!defaultPrevented) hold(key);
  };
  const onKey = (event: KeyboardEvent): void => {
    const { key } = event;
    if (isPressing || event.ctrlKey || event.metaKey || event.altKey) return;
    settle();
    if (isInDialog()) {
      writeHeld();
      return;
    }
    // Space acts on what has the focus, or stands between words that are held, and Enter acts on the form of a field.
    const isWritten = isTyping(event) && key.length === 1;
    const isSpace = key === ' ' && held.length === 0;
    if (!isWritten && (isTyping(event) || isSpace || (key.length !== 1 && key !== 'Enter'))) return;
    if (held.length > 0) {
      event.preventDefault();
      event.stopImmediatePropagation();
      hold(key);
    } else if (!isWritten && key !== 'Enter' && !event.repeat) {
      open.push(event);
      // The actions of the page listen after this one.
      setTimeout(settle);
    }
  };
  window.addEventListener('keydown', onKey, true);
  return () => {
    hasEnded = true;
    window.removeEventListener('keydown', onKey, true);
  };
}
