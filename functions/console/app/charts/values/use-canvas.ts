import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { schemeChanges } from '../../theme/colours.ts';

interface Size {
  width: number;
  height: number;
}

/** Return the size of an element in pixels. It follows changes of the page. */
export function useSize<E extends HTMLElement>(): [RefObject<E | null>, Size] {
  const holder = useRef<E>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const measure = () =>
      setSize((before) => {
        const { clientWidth: width, clientHeight: height } = element;
        return before.width === width && before.height === height ? before : { width, height };
      });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [holder, size];
}

export function useWidth<E extends HTMLElement>(): [RefObject<E | null>, number] {
  const [holder, { width }] = useSize<E>();
  return [holder, width];
}

/** Draw a canvas once its inputs or the colours of the page have changed. */
export function useCanvas(
  { width, height }: { width: number; height: number },
  draw: (context: CanvasRenderingContext2D) => void,
  inputs: readonly unknown[],
): RefObject<HTMLCanvasElement | null> {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = schemeChanges.value;
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (element === null || !context || width === 0) return;
    const scale = devicePixelRatio;
    element.width = width * scale;
    element.height = height * scale;
    context.scale(scale, scale);
    draw(context);
  }, [width, height, scheme, ...inputs]);
  return canvas;
}
