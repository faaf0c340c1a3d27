import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

export interface VirtualRows {
  items: readonly VirtualItem[];
  /** Height of all rows in pixels. */
  height: number;
  scrollTo(index: number, align?: 'auto' | 'start' | 'center' | 'end'): void;
}

/** Return the rows of a long list near the visible part. All rows have the same height. */
export function useVirtual(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
  top = 0,
): VirtualRows {
  const [, redraw] = useState(0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    overscan: 8,
    scrollMargin: 0,
    paddingStart: top,
    onChange: () => redraw((version) => version + 1),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, Element>(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    items: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    scrollTo: (index, align = 'auto') => virtualizer.scrollToIndex(index, { align }),
  };
}
