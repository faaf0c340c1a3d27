import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { place } from '../router.ts';
import { Icon } from './icon.tsx';

const product = 'Model Project Service';

/** Where the focus was when somebody went to another page, until that page's heading is there to take it. */
let left: { focus: Element | null } | undefined;

/** Note that another page is shown now. Its heading takes the focus, at once or when it is loaded. */
export function leavePage(): void {
  left = { focus: document.activeElement };
}

/** Whether the focus is free to go to the heading: not where somebody has moved it, or uses a part of the page that stays. */
function isFree({ focus }: { focus: Element | null }): boolean {
  const present = document.activeElement;
  if (present === null || present === document.body) return true;
  return present === focus && present.closest('.side') !== null;
}

/** What the tab, the history and bookmarks call the page, the nearest first. */
export function usePageTitle(...names: readonly (string | undefined)[]): void {
  const title = [...names.filter(Boolean), product].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title, place.value]);
}

/** The head of a page: where it is, what it is called, and what can be done on it. */
export function PageHead({
  trail = [],
  title,
  part,
  children,
  below,
}: {
  trail?: readonly { name: string; href: string }[];
  title: string;
  /** The part of the page that is open, where it has several. */
  part?: string | undefined;
  children?: ComponentChildren;
  below?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const above = trail.slice(1).map(({ name }) => name);
  usePageTitle(part, title, ...above.reverse());
  useEffect(() => {
    if (left === undefined) return;
    if (isFree(left)) heading.current?.focus({ preventScroll: true });
    left = undefined;
  }, [place.value]);
  return (
    <header class="page-head">
      {trail.length > 0 && (
        <nav class="trail" aria-label="Breadcrumbs">
          {trail.map((step) => (
            <span key={step.href}>
              <a href={step.href}>
                <bdi>{step.name}</bdi>
              </a>
              <Icon name="right" size={12} />
            </span>
          ))}
        </nav>
      )}
      <div class="title-row">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{title}</bdi>
        </h1>
        {children !== undefined && <div class="actions">{children}</div>}
      </div>
      {below}
    </header>
  );
}
