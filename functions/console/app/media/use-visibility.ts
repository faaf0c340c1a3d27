import { useEffect, useRef, useState } from 'preact/hooks';

/** Tracks which tiles are on the screen. */
export function useVisibility(onChange: () => void) {
  const changed = useRef(onChange);
  changed.current = onChange;
  const [state] = useState(() => {
    const visible = new Set<string>();
    const elements = new Map<string, HTMLElement>();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const id = (target as HTMLElement).dataset['id'] ?? '';
          if (isIntersecting) visible.add(id);
          else visible.delete(id);
        }
        changed.current();
      },
      { rootMargin: '150px' },
    );
    const refs = new Map<string, (element: HTMLElement | null) => void>();
    const observe = (id: string, element: HTMLElement | null) => {
      const before = elements.get(id);
      if (before === element || (element === null && before === undefined)) return;
      if (before !== undefined) observer.unobserve(before);
      if (element === null) {
        elements.delete(id);
        visible.delete(id);
      } else {
        elements.set(id, element);
        observer.observe(element);
      }
    };
    return {
      visible,
      observer,
      isVisible: (id: string) => visible.has(id),
      /** Return the ref of a tile, always the same: a new one would begin to observe all tiles at each frame. */
      refOf(id: string) {
        const ref = refs.get(id) ?? ((element: HTMLElement | null) => observe(id, element));
        refs.set(id, ref);
        return ref;
      },
    };
  });
  useEffect(() => () => state.observer.disconnect(), [state]);
  return state;
}
