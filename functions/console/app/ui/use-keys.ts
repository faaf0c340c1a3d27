import { useEffect, useRef } from 'preact/hooks';

const typing = 'input:not([type=checkbox], [type=radio], [type=range]), select, textarea';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches(typing));

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
      if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (act !== undefined && act(event) !== false) event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
