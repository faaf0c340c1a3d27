import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Part of a long page of settings. */
export interface PagePart {
  id: string;
  name: string;
  content: ComponentChildren;
}

const goTo = (id: string): void => {
  const part = document.getElementById(id);
  part?.focus({ preventScroll: true });
  part?.scrollIntoView({ block: 'start' });
};

/** Return the part that is read: the one that was gone to while it is seen, else the last that begins above the middle. */
function readPart(all: readonly Element[]): Element | undefined {
  const top = (part: Element) => part.getBoundingClientRect().top;
  const gone = all.find((part) => part === document.activeElement);
  if (gone !== undefined && top(gone) > -1 && top(gone) < window.innerHeight) return gone;
  return all.findLast((part) => top(part) < window.innerHeight / 3) ?? all[0];
}

/** Parts of a long page below each other, with a list of their names at the left that marks the one that is read. */
export function Sections({ label, parts }: { label: string; parts: readonly PagePart[] }) {
  const body = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(`part-${parts[0]?.id}`);
  useEffect(() => {
    const follow = () => setCurrent(readPart([...(body.current?.children ?? [])])?.id ?? '');
    window.addEventListener('scroll', follow, { passive: true });
    return () => window.removeEventListener('scroll', follow);
  }, []);
  return (
    <div class="sections">
      <nav aria-label={label}>
        <ul>
          {parts.map(({ id, name }) => (
            <li key={id}>
              <button
                type="button"
                onClick={() => goTo(`part-${id}`)}
                {...(current === `part-${id}` && { 'aria-current': 'true' as const })}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div ref={body}>
        {parts.map(({ id, content }) => (
          <div key={id} id={`part-${id}`} tabIndex={-1}>
            {content}
          </div>
        ))}
      </div>
    </div>
  );
}
