import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { endpoint as readLogs } from '../../../experiments/records/read-logs.endpoint.ts';
import type { Experiment } from '../api/answers.ts';
import { page } from '../api/calls.ts';
import { follow } from '../api/follow.ts';
import { signInCount } from '../api/session.ts';
import { Button } from '../ui/controls/button.tsx';
import { Copy } from '../ui/controls/copy.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { saveBlob } from '../ui/save.ts';
import { Empty } from '../ui/states/empty.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { isFinal } from '../ui/states/status.tsx';
import { plural } from '../ui/text/format.ts';
import { useVirtual } from '../ui/use-virtual.ts';
import { type KeptLine, LogBuffer } from './log-buffer.ts';
import { type Level, type LogLine, plainText } from './log-levels.ts';
import { askLive } from './use-followed.ts';

const route = 'GET /projects/{project_id}/experiments/{experiment_id}/logs';
const hours = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const lineHeight = 20;
/** Number of last lines to request first. */
const tail = 2_000;
/** Maximum number of drawn characters of a line. One click shows the whole line. */
const maxDrawn = 1_500;
const maxDialog = 200_000;
const maxCopied = 20_000_000;

/** Read a log from its end or its beginning, and follow it. */
function useLog(
  experiment: Experiment,
  node: number,
  isFromStart: boolean,
  onChange: (next: Experiment) => void,
) {
  const { project_id, experiment_id } = experiment;
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<unknown>();
  const [isCut, setCut] = useState(false);
  const buffer = useRef(new LogBuffer());
  const latest = useRef(onChange);
  latest.current = onChange;
  const signIns = signInCount.value;
  useEffect(() => {
    buffer.current = new LogBuffer();
    setError(undefined);
    setVersion(0);
    let shown = '';
    const query = {
      parts: ['log' as const],
      ...(node > 0 && { node }),
      ...(!isFromStart && { tail }),
    };
    return follow({
      ask: (after, signal) => askLive({ project_id, experiment_id }, query, after, signal),
      take({ log, earlier, experiment: next }, isFirst) {
        if (isFirst) {
          buffer.current = new LogBuffer();
          setCut(earlier);
        }
        buffer.current.add(log);
        if (log.length > 0 || isFirst) setVersion((before) => before + 1);
        setError(undefined);
        // An ended experiment is the same in each of the answers that bring a long log.
        const text = JSON.stringify(next);
        if (text !== shown) latest.current(next);
        shown = text;
      },
      fail: setError,
    });
  }, [project_id, experiment_id, node, isFromStart, signIns]);
  return { buffer: buffer.current, version, error, isCut };
}

const levelNames: readonly { id: Level | 'all'; name: string }[] = [
  { id: 'all', name: 'All' },
  { id: 'warning', name: 'Warnings' },
  { id: 'error', name: 'Errors' },
];

const isWanted = (line: KeptLine, words: string, level: Level | 'all'): boolean => {
  if (level !== 'all') {
    const { level: own } = line;
    if (own !== level && !(level === 'warning' && own === 'error')) return false;
  }
  return words === '' || line.message.toLowerCase().includes(words);
};

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

function Lines({
  lines,
  words,
  isFollowed,
  onFollow,
}: {
  lines: readonly KeptLine[];
  words: string;
  isFollowed: boolean;
  onFollow: (isFollowed: boolean) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [whole, setWhole] = useState<KeptLine>();
  const { items, height, scrollTo } = useVirtual(scroller, lines.length, lineHeight);
  useEffect(() => {
    if (isFollowed && lines.length > 0) scrollTo(lines.length - 1, 'end');
  }, [lines.length, isFollowed]);
  const onScroll = () => {
    const element = scroller.current;
    if (element === null) return;
    const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 2 * lineHeight;
    if (isFollowed && !isAtEnd) onFollow(false);
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
                class={`log-line ${line.level}`}
                style={{ transform: `translateY(${start}px)` }}
              >
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

/** Download the whole log, including lines that this page has dropped. */
async function downloadLog({ project_id, experiment_id, name }: Experiment, node: number): Promise<void> {
  const parts: Blob[] = [];
  let next: string | undefined;
  do {
    const { rows, next: more } = await page<typeof readLogs>(
      route,
      { path: { project_id, experiment_id }, query: { limit: 10_000, ...(node > 0 && { node }) } },
      next,
    );
    // Browsers can keep a blob outside of the page's memory.
    parts.push(new Blob([rows.map(({ message }) => `${message}\n`).join('')]));
    next = rows.length === 0 ? undefined : more;
  } while (next !== undefined);
  saveBlob(new Blob(parts, { type: 'text/plain' }), `${name.replace(/[^\w.-]+/g, '_')}.log`);
}

function copied(lines: readonly LogLine[]): string {
  const parts: string[] = [];
  let size = 0;
  for (const { message } of lines) {
    size += message.length + 1;
    if (size > maxCopied) {
      parts.push('(the rest is too long for the clipboard: download the log)');
      break;
    }
    parts.push(plainText(message));
  }
  return parts.join('\n');
}

/** Live log of an experiment, with search, level filter, copy and download. */
export function LogTab({
  experiment,
  onChange,
}: {
  experiment: Experiment;
  /** Called with the state that comes with the log. */
  onChange: (next: Experiment) => void;
}) {
  const [node, setNode] = useState(0);
  const [isFromStart, setFromStart] = useState(false);
  const [wanted, setWanted] = useState('');
  const [words, setWords] = useState('');
  const [level, setLevel] = useState<Level | 'all'>('all');
  const [isFollowed, setFollowed] = useState(true);
  const { buffer, version, error, isCut } = useLog(experiment, node, isFromStart, onChange);

  // Delay a search through many lines until the user stops typing.
  useEffect(() => {
    const timer = setTimeout(() => setWords(wanted.toLowerCase()), 150);
    return () => clearTimeout(timer);
  }, [wanted]);

  const lines = useMemo(
    () =>
      words === '' && level === 'all'
        ? buffer.lines.slice()
        : buffer.lines.filter((line) => isWanted(line, words, level)),
    [buffer, version, words, level],
  );
  return (
    <div class="log-tab">
      <div class="bar-row">
        <search class="grow filter">
          <input
            type="search"
            aria-label="Search the log"
            placeholder="Search the log"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </search>
        <div class="segments" role="group" aria-label="Levels">
          {levelNames.map(({ id, name }) => (
            <button key={id} type="button" aria-pressed={id === level} onClick={() => setLevel(id)}>
              {name}
            </button>
          ))}
        </div>
        {experiment.nodes > 1 && (
          <select
            class="node"
            aria-label="Node"
            value={node}
            onChange={({ currentTarget }) => setNode(Number(currentTarget.value))}
          >
            {Array.from({ length: experiment.nodes }, (_, index) => (
              <option key={index} value={index}>
                Node {index}
              </option>
            ))}
          </select>
        )}
        {!isFinal(experiment.status) && (
          <Button icon="down" pressed={isFollowed} onClick={() => setFollowed(!isFollowed)}>
            Follow
          </Button>
        )}
        <Copy text={() => copied(lines)} label="Copy the lines that are shown" />
        <Button
          kind="quiet"
          icon="download"
          label="Download the whole log"
          onClick={() => attempt(() => downloadLog(experiment, node))}
        />
      </div>
      <p class="table-note" role="status">
        {words === '' && level === 'all'
          ? plural(lines.length, 'line')
          : `${lines.length.toLocaleString('en')} of ${plural(buffer.lines.length, 'line')}`}
        {isCut && (
          <>
            , the newest ones.{' '}
            <button type="button" class="as-link" onClick={() => setFromStart(true)}>
              Read from the beginning
            </button>
          </>
        )}
        {buffer.dropped > 0 && `; ${plural(buffer.dropped, 'older line')} dropped; the download contains all`}
      </p>
      {error !== undefined && buffer.lines.length === 0 ? (
        <Problem error={error} what="The log could not be loaded" />
      ) : version === 0 ? (
        <Skeleton rows={8} />
      ) : buffer.lines.length === 0 ? (
        <Empty title="The log is empty" icon="file">
          <p>Lines appear here when the program writes them.</p>
        </Empty>
      ) : (
        <Lines lines={lines} words={words} isFollowed={isFollowed} onFollow={setFollowed} />
      )}
    </div>
  );
}
