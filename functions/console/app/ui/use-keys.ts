import { useEffect, useRef } from 'preact/hooks';

const typing = 'input:not([type=checkbox], [type=radio], [type=range]), select, textarea';

/**
 * Act on single keys anywhere on the page, except while the user types in a field or holds a modifier.
 *
 * @example useKeys({ v: () => togglePanel() });
 */
export function useKeys(keys: Readonly<Record<string, (event: KeyboardEvent) => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if ((event.target as HTMLElement).matches(typing)) return;
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (act === undefined) return;
      event.preventDefault();
      act(event);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
