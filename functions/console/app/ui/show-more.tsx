import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/**
 * Return the first items of a long list, and a button that counts the others and shows them.
 *
 * @example const [tags, moreTags] = useShowMore(all, 30, 'tags');
 */
export function useShowMore<T>(
  all: readonly T[],
  most: number,
  what: string,
): [readonly T[], ComponentChildren] {
  const [isWhole, setWhole] = useState(false);
  if (all.length <= most) return [all, null];
  const left = (all.length - most).toLocaleString('en');
  return [
    isWhole ? all : all.slice(0, most),
    <button
      key="more"
      type="button"
      class="as-link small"
      aria-expanded={isWhole}
      onClick={() => setWhole(!isWhole)}
    >
      {isWhole ? `fewer ${what}` : `and ${left} more ${what}`}
    </button>,
  ];
}
