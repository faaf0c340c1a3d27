import { useEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../ui/text/format.ts';
import { buildInert } from './inert-html.ts';

/**
 * An HTML file in a sandboxed frame without scripts. The frame shares the origin of the page only so that the page
 * can fill it; nothing in it runs.
 */
export function HtmlView({ text, name }: { text: string; name: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [leftOut, setLeftOut] = useState(0);
  const [height, setHeight] = useState(480);
  useEffect(() => {
    const inner = frame.current?.contentDocument;
    if (inner == null) return;
    inner.body.replaceChildren();
    inner.adoptedStyleSheets = [];
    // Reports are written for a white page.
    inner.body.style.cssText =
      'background: white; color: black; color-scheme: light; margin: 16px; font: 15px/1.5 system-ui, sans-serif';
    setLeftOut(buildInert(text, inner).leftOut);
    setHeight(Math.min(2_000, Math.max(160, inner.body.getBoundingClientRect().height + 34)));
  }, [text]);
  return (
    <>
      {leftOut > 0 && (
        <p class="soft small">
          {plural(leftOut, 'script or embedded page', 'scripts and embedded pages')} of this file{' '}
          {leftOut === 1 ? 'does' : 'do'} not run here. Download the file to see them.
        </p>
      )}
      <iframe
        ref={frame}
        class="html-view"
        sandbox="allow-same-origin"
        title={name}
        style={{ height: `${height}px` }}
      />
    </>
  );
}
