import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Experiment } from '../../api/answers.ts';
import { follow } from '../../api/follow.ts';
import { signInCount } from '../../api/session.ts';
import { place } from '../../ui/router.ts';
import { Empty } from '../../ui/states/empty.tsx';
import { Problem } from '../../ui/states/problem.tsx';
import { Skeleton } from '../../ui/states/skeleton.tsx';
import { isFinal } from '../../ui/states/status.tsx';
import { askLive } from '../use-followed.ts';
import { LogBar } from './log-bar.tsx';
import { type KeptLine, LogBuffer } from './log-buffer.ts';
import type { Level } from './log-levels.ts';
import { LogLines, showLine } from './log-lines.tsx';
import { LogNote } from './log-note.tsx';
import { type LogSearch, useLogSearch } from './log-search.ts';
import { LogWindow } from './log-window.tsx';

/** Live log of an experiment, with search, level filter, copy and download. */
export function LogTab({
  experiment,
  onChange,
}: {
  experiment: Experiment;
  /** Called with the state that comes with the log. */
  onChange: (next: Experiment) => void;
}) {
  const { query } = place.value;
  const node = Math.max(0, Math.min(Number(query.get('node')) || 0, experiment.nodes - 1));
  const find = query.get('find') ?? '';
  const words = find.toLowerCase();
  const shown = Number(query.get('line')) || undefined;
  const [isFromStart, setFromStart] = useState(false);
  const [level, setLevel] = useState<Level | 'all'>('all');
  const [isFollowed, setFollowed] = useState(true);
  const log = useLog(experiment, node, isFromStart, onChange);
  const { buffer, version, isCut } = log;
  // The service searches what the page does not have.
  const isPart = isCut || buffer.dropped > 0;
  const search = useLogSearch(experiment, node, isPart ? words : '');
  const matches = useMemo(() => {
    if (search !== undefined) return search.lines.filter((line) => isWanted(line, '', level));
    if (words === '' && level === 'all') return buffer.lines.slice();
    return buffer.lines.filter((line) => isWanted(line, words, level));
  }, [search?.lines, buffer, version, words, level]);
  // The first one at the marked line, or after it.
  const at = shown === undefined ? -1 : matches.findIndex(({ number = 0 }) => number >= shown);
  const isAt = shown !== undefined && matches[at]?.number === shown;
  const step = (by: 1 | -1) => {
    const present = at < 0 ? (shown === undefined && by > 0 ? -1 : matches.length) : at;
    const next = present + (by > 0 && at >= 0 && !isAt ? 0 : by);
    const { number } = matches[(next + matches.length) % matches.length] ?? {};
    if (words !== '' && number !== undefined) showLine(number);
  };
  return (
    <div class="log-tab">
      <LogBar
        {...{ experiment, node, find, level, isFollowed }}
        found={matches}
        isList={shown === undefined}
        onStep={step}
        onLevel={setLevel}
        onFollow={setFollowed}
      />
      <LogNote
        {...{ find, search, shown, isCut }}
        found={matches.length}
        place={isAt ? at + 1 : undefined}
        kept={buffer.lines.length}
        dropped={buffer.dropped}
        isAll={level === 'all'}
        onBegin={() => setFromStart(true)}
      />
      {search?.error !== undefined && (
        <Problem error={search.error} onRetry={search.retry} what="The log could not be searched" />
      )}
      {shown !== undefined && isPart ? (
        <LogWindow {...{ experiment, node, words, shown }} />
      ) : (
        <Content
          {...{ log, search, find, shown }}
          isOver={isFinal(experiment.status)}
          lines={shown === undefined ? matches : buffer.lines}
          isFollowed={isFollowed && words === '' && shown === undefined}
          onFollow={setFollowed}
        />
      )}
    </div>
  );
}

/** Lines of the log, or what there is instead of them. */
function Content({
  log: { buffer, version, error },
  search,
  find,
  isOver,
  lines,
  ...rest
}: {
  log: ReturnType<typeof useLog>;
  search: LogSearch | undefined;
  find: string;
  isOver: boolean;
  lines: readonly KeptLine[];
  shown: number | undefined;
  isFollowed: boolean;
  onFollow: (isFollowed: boolean) => void;
}) {
  if (error !== undefined && buffer.lines.length === 0)
    return <Problem error={error} what="The log could not be loaded" />;
  if (version === 0) return <Skeleton rows={8} />;
  if (buffer.lines.length === 0)
    return (
      <Empty title="The log is empty" icon="file">
        <p>{isOver ? 'The program wrote nothing.' : 'Lines appear here when the program writes them.'}</p>
      </Empty>
    );
  if (lines.length > 0 || find === '') return <LogLines lines={lines} words={find.toLowerCase()} {...rest} />;
  if (search?.error !== undefined) return null;
  return (
    <Empty title={search?.isDone === false ? 'Searching…' : 'No line found'} icon="search">
      <p>
        No line {search?.isDone === false && 'so far '}has <bdi>{find}</bdi>.
      </p>
    </Empty>
  );
}

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
  const buffer = useRef(new LogBuffer(false));
  const latest = useRef(onChange);
  latest.current = onChange;
  const signIns = signInCount.value;
  useEffect(() => {
    buffer.current = new LogBuffer(false);
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
          buffer.current = new LogBuffer(!earlier);
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

/** Number of last lines to request first. */
const tail = 2_000;

const isWanted = (line: KeptLine, words: string, level: Level | 'all'): boolean => {
  if (level !== 'all') {
    const { level: own } = line;
    if (own !== level && !(level === 'warning' && own === 'error')) return false;
  }
  return words === '' || line.message.toLowerCase().includes(words);
};
