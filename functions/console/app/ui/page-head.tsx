import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { place } from './router.ts';

const product = 'Model Project Service';

/** Focused element at the last page change, until the new page's heading takes the focus. */
let left: { focus: Element | null } | undefined;

/** Record a page change. The new heading takes the focus once it is loaded. */
export function leavePage(): void {
  left = { focus: document.activeElement };
}

/** Return whether the heading may take the focus: nothing has it, or a link in the side bar has kept it. */
function isFree({ focus }: { focus: Element | null }): boolean {
  const present = document.activeElement;
  if (present === null || present === document.body) return true;
  return present === focus && present.closest('.side') !== null;
}

/** Set the document title from names, the most specific first. */
export function usePageTitle(...names: readonly (string | undefined)[]): void {
  const title = [...names.filter(Boolean), product].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title, place.value]);
}

/** Head of a page: trail, title, the parts of the page and actions, on one line where there is room. */
export function PageHead({
  trail = [],
  title,
  part,
  tabs,
  children,
  below,
}: {
  trail?: readonly { name: string; href: string }[];
  title: string;
  /** Open part of a page with several. */
  part?: string | undefined;
  /** Links to the parts of the page, beside its title. */
  tabs?: ComponentChildren;
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
      <div class={tabs === undefined ? 'title-row' : 'title-row with-tabs'}>
        <div class="title">
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
          <h1 ref={heading} tabIndex={-1} title={title}>
            <bdi>{title}</bdi>
          </h1>
        </div>
        {tabs}
        {children !== undefined && <div class="actions">{children}</div>}
      </div>
      {below}
    </header>
  );
}
