import { useEffect, useRef } from 'preact/hooks';

const typing = 'input:not([type=checkbox], [type=radio], [type=range]), select, textarea';
/** Characters of numbers. */
const ofNumbers = /^[\d.,eE+-]$/;

/** Return whether a key belongs to the field that has the focus. A field for a number has no use for other letters. */
export function isTyping({ target, key }: Pick<KeyboardEvent, 'target' | 'key'>): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches('input[type=number]')) return key.length > 1 || ofNumbers.test(key);
  return target.isContentEditable || target.matches(typing);
}

/**
 * Act on single keys anywhere on the page, except while the user types in a field, holds a modifier, or has a dialog
 * open. An action that returns false leaves the key to others.
 *
 * @example useKeys({ v: () => togglePanel() });
 */
export function useKeys(keys: Readonly<Record<string, (event: KeyboardEvent) => unknown>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(event) || document.querySelector('dialog[open]') !== null) return;
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (act !== undefined && act(event) !== false) event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
