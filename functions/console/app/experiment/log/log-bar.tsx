import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Experiment } from '../../api/answers.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copy } from '../../ui/controls/copy.tsx';
import { place, setQuery } from '../../ui/router.ts';
import { saveBlob } from '../../ui/save.ts';
import { attempt } from '../../ui/states/notice.tsx';
import { isFinal } from '../../ui/states/status.tsx';
import type { KeptLine } from './log-buffer.ts';
import { type Level, type LogLine, plainText } from './log-levels.ts';
import { logPage } from './log-page.ts';

/** Tools of a log: search with its steps, levels, node, copy and download. */
export function LogBar({
  experiment,
  node,
  find,
  found,
  isList,
  level,
  isFollowed,
  onStep,
  onLevel,
  onFollow,
}: {
  experiment: Experiment;
  node: number;
  /** Text of the search, from the address. */
  find: string;
  found: readonly KeptLine[];
  /** Whether the page shows what was found, not what is around a line. */
  isList: boolean;
  level: Level | 'all';
  isFollowed: boolean;
  onStep: (by: 1 | -1) => void;
  onLevel: (level: Level | 'all') => void;
  onFollow: (isFollowed: boolean) => void;
}) {
  const [wanted, setWanted] = useState(find);
  const look = (): boolean => {
    const text = wanted.trim();
    if (text === (place.peek().query.get('find') ?? '')) return false;
    setQuery({ find: text || undefined, line: undefined });
    return true;
  };
  // A link may lead to another search of the same log.
  useLayoutEffect(() => {
    if (wanted.trim() !== find) setWanted(find);
  }, [find]);
  // Delay a search through many lines until the user stops typing.
  useEffect(() => {
    const timer = setTimeout(look, delay);
    return () => clearTimeout(timer);
  }, [wanted]);
  return (
    <div class="bar-row">
      <search class="grow filter">
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          maxLength={200}
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            if (!look()) onStep(event.shiftKey ? -1 : 1);
          }}
        />
      </search>
      {find !== '' && (
        <span class="found-steps">
          <Button
            kind="quiet"
            icon="up"
            label="Previous line found (N, or Shift Enter in the field)"
            shortcut="N"
            disabled={found.length === 0}
            onClick={() => onStep(-1)}
          />
          <Button
            kind="quiet"
            icon="down"
            label="Next line found (n, or Enter in the field)"
            shortcut="n"
            disabled={found.length === 0}
            onClick={() => onStep(1)}
          />
        </span>
      )}
      <div class="segments" role="group" aria-label="Levels">
        {levelNames.map(({ id, name }) => (
          <button key={id} type="button" aria-pressed={id === level} onClick={() => onLevel(id)}>
            {name}
          </button>
        ))}
      </div>
      {experiment.nodes > 1 && (
        <select
          class="node"
          aria-label="Node"
          value={node}
          onChange={({ currentTarget }) =>
            setQuery({
              node: currentTarget.value === '0' ? undefined : currentTarget.value,
              line: undefined,
            })
          }
        >
          {Array.from({ length: experiment.nodes }, (_, index) => (
            <option key={index} value={index}>
              Node {index}
            </option>
          ))}
        </select>
      )}
      {!isFinal(experiment.status) && (
        <Button icon="down" pressed={isFollowed} onClick={() => onFollow(!isFollowed)}>
          Follow
        </Button>
      )}
      {isList && <Copy text={() => copied(found)} label="Copy the lines that are shown" />}
      <Button
        kind="quiet"
        icon="download"
        label="Download the whole log"
        onClick={() => attempt(() => downloadLog(experiment, node))}
      />
    </div>
  );
}

/** Milliseconds after the last key before a search begins. */
const delay = 250;

const levelNames: readonly { id: Level | 'all'; name: string }[] = [
  { id: 'all', name: 'All' },
  { id: 'warning', name: 'Warnings' },
  { id: 'error', name: 'Errors' },
];

/** Download the whole log, including lines that this page has dropped. */
async function downloadLog(experiment: Experiment, node: number): Promise<void> {
  const parts: Blob[] = [];
  let next: string | undefined;
  do {
    const { rows, next: more } = await logPage(experiment, node, { limit: 10_000 }, next);
    // Browsers can keep a blob outside of the page's memory.
    parts.push(new Blob([rows.map(({ message }) => `${message}\n`).join('')]));
    next = rows.length === 0 ? undefined : more;
  } while (next !== undefined);
  saveBlob(new Blob(parts, { type: 'text/plain' }), `${experiment.name.replace(/[^\w.-]+/g, '_')}.log`);
}

/** Return the lines as text for the clipboard. */
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

const maxCopied = 20_000_000;
