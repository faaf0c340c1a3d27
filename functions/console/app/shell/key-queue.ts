import { isTyping } from '../ui/use-keys.ts';

/** After so long, a key is held to be forgotten by the person who pressed it. */
const longestMilliseconds = 3_000;
/** Within this time, a part that an earlier key asked for shows that it is loading. */
const graceMilliseconds = 150;
const betweenLooks = 50;

const isLoading = (): boolean => document.querySelector('main .skeleton') !== null;

const isInDialog = (): boolean => document.querySelector('dialog[open]') !== null;

/**
 * Press a key for the page as it is now. Enter also opens what has the focus, which an event of a script does not.
 * @returns whether something acted on it
 */
function press(key: string): boolean {
  const target = document.activeElement ?? document.body;
  // An event of a script writes nothing into a field that an earlier key went to.
  if (isTyping({ target, key })) return document.execCommand('insertText', false, key);
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
  if (!target.dispatchEvent(event)) return true;
  if (key !== 'Enter' || !target.matches('a, button') || !(target instanceof HTMLElement)) return false;
  target.click();
  return true;
}

/**
 * Hold single keys that nothing acted on while a part of the page loads, and press them in their order once it is
 * there: a person who knows the page presses the next key before the part of the first has loaded.
 * @returns ends it
 */
export function queueKeys(): () => void {
  let held: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let since = 0;
  /** Looks since something was loading; undefined if nothing was. */
  let looks: number | undefined;
  let isPressing = false;
  const pressHeld = (): void => {
    isPressing = true;
    // What a key does may load another part, so the next waits for the next look.
    for (let key = held.shift(); key !== undefined && !press(key); key = held.shift());
    isPressing = false;
    since = performance.now();
    looks = undefined;
  };
  const look = (): void => {
    const age = performance.now() - since;
    if (isInDialog() || age > longestMilliseconds) held = [];
    // Once it is there, a part listens only after it is drawn: at the second look.
    if (isLoading()) looks = 0;
    else if (looks !== undefined) looks += 1;
    if ((looks ?? 0) > 1 || (looks === undefined && age > graceMilliseconds)) pressHeld();
    timer = held.length > 0 ? setTimeout(look, betweenLooks) : undefined;
  };
  const hold = (key: string): void => {
    held.push(key);
    if (timer !== undefined) return;
    since = performance.now();
    looks = undefined;
    timer = setTimeout(look, betweenLooks);
  };
  const onKey = (event: KeyboardEvent): void => {
    const { key } = event;
    if (isPressing || event.ctrlKey || event.metaKey || event.altKey || isInDialog()) return;
    if (isTyping(event) || (key.length !== 1 && key !== 'Enter') || key === ' ') return;
    if (held.length > 0) {
      event.preventDefault();
      event.stopImmediatePropagation();
      hold(key);
    } else if (key !== 'Enter' && !event.repeat) {
      // The actions of the page listen after this one.
      setTimeout(() => !event.defaultPrevented && hold(key));
    }
  };
  window.addEventListener('keydown', onKey, true);
  return () => {
    window.removeEventListener('keydown', onKey, true);
    clearTimeout(timer);
  };
}
