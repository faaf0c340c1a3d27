import { useEffect, useRef, useState } from 'preact/hooks';
import { Copy } from '../../ui/controls/copy.tsx';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { setQuery } from '../../ui/router.ts';
import { useVirtual } from '../../ui/use-virtual.ts';
import type { KeptLine } from './log-buffer.ts';
import { plainText } from './log-levels.ts';

const hours = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const lineHeight = 20;
/** Maximum number of drawn characters of a line. One click shows the whole line. */
const maxDrawn = 1_500;
const maxDialog = 200_000;

/** Lines of a log, of which only the visible ones are drawn. */
export function LogLines({
  lines,
  words,
  isFollowed = false,
  onFollow,
  shown,
}: {
  lines: readonly KeptLine[];
  words: string;
  isFollowed?: boolean;
  onFollow?: (isFollowed: boolean) => void;
  /** Number of a line in the log, from 1, to show in the middle and to mark. */
  shown: number | undefined;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [whole, setWhole] = useState<KeptLine>();
  const { items, height, scrollTo } = useVirtual(scroller, lines.length, lineHeight);
  useEffect(() => {
    if (isFollowed && lines.length > 0) scrollTo(lines.length - 1, 'end');
  }, [lines.length, isFollowed]);
  const first = lines[0]?.number;
  const isShown = shown !== undefined && lines.length > 0;
  useEffect(() => {
    const index = lines.findIndex(({ number }) => number === shown);
    if (isShown && index >= 0) scrollTo(index, 'center');
  }, [shown, first, isShown]);
  // A long line has its words far to the right. It is drawn after the list has scrolled, and brought into sight once.
  const revealed = useRef('');
  const isDrawn = isShown && items.some(({ index }) => lines[index]?.number === shown);
  useEffect(() => {
    const key = `${shown} ${words}`;
    if (!isDrawn || revealed.current === key) return;
    revealed.current = key;
    scroller.current?.querySelector('.marked mark')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isDrawn, shown, words]);
  const onScroll = () => {
    const element = scroller.current;
    if (element === null) return;
    const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 2 * lineHeight;
    if (isFollowed && !isAtEnd) onFollow?.(false);
  };
  return (
    <>
      <div
        class="log"
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-label="Log"
        aria-live="off"
        onWheel={onScroll}
        onTouchMove={onScroll}
        onKeyUp={onScroll}
      >
        <div class="log-lines" style={{ height: `${height}px` }}>
          {items.map(({ index, start }) => {
            const line = lines[index];
            if (line === undefined) return null;
            const text = plainText(line.message.slice(0, maxDrawn));
            const rest = line.message.length - maxDrawn;
            return (
              <div
                key={index}
                class={`log-line ${line.level}${isShown && line.number === shown ? ' marked' : ''}`}
                style={{ transform: `translateY(${start}px)` }}
              >
                {line.number !== undefined && (
                  <button
                    type="button"
                    class="log-number"
                    tabIndex={-1}
                    title="Link to this line"
                    onClick={() => showLine(line.number)}
                  >
                    {line.number}
                  </button>
                )}
                <time title={line.time}>{hours.format(Date.parse(line.time))}</time>
                <span>
                  <Message text={text} words={words} />
                  {rest > 0 && (
                    <button type="button" class="as-link" onClick={() => setWhole(line)}>
                      … {rest.toLocaleString('en')} more characters
                    </button>
                  )}
                </span>
              </div>
            );
          })}
        </div>
      </div>
      {whole !== undefined && (
        <Dialog title="The whole line" onClose={() => setWhole(undefined)} wide>
          <div class="panel-head">
            <p class="soft small">
              {whole.message.length.toLocaleString('en')} characters
              {whole.message.length > maxDialog &&
                `, of which the first ${maxDialog.toLocaleString('en')} are shown`}
            </p>
            <Copy text={whole.message} label="Copy the whole line" />
          </div>
          <pre class="text wrapped">{whole.message.slice(0, maxDialog)}</pre>
        </Dialog>
      )}
    </>
  );
}

/** Show a line by its number, from 1, among those around it; undefined to show them all. The address is a link to it. */
export const showLine = (number: number | undefined): void => setQuery({ line: number?.toString() });

const Message = ({ text, words }: { text: string; words: string }) => {
  if (words === '') return <>{text}</>;
  const at = text.toLowerCase().indexOf(words);
  if (at < 0) return <>{text}</>;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + words.length)}</mark>
      {text.slice(at + words.length)}
    </>
  );
};
